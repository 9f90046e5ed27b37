// SPDX-License-Identifier: Apache-2.0
// As old_glibc.cpp, of what the libraries for OpenMP programs call to learn how large a stack is.

#include "platform/old_glibc.hpp"

NIGH_OLD("pthread_attr_getstack", NIGH_BASE)
NIGH_OLD("pthread_getattr_np", NIGH_BASE)
