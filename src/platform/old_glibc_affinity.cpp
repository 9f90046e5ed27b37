// SPDX-License-Identifier: Apache-2.0
// As old_glibc.cpp, for libraries that do not themselves define these functions.

#include "platform/old_glibc.hpp"

NIGH_OLD("pthread_attr_getaffinity_np", NIGH_BASE_AFFINITY)
