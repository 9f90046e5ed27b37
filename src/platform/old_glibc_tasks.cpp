// SPDX-License-Identifier: Apache-2.0
// As old_glibc.cpp, of what only the library for OpenMP tasks calls.

#include "platform/old_glibc.hpp"

NIGH_OLD("dlclose", NIGH_BASE)
NIGH_OLD("pthread_create", NIGH_BASE)
NIGH_OLD("pthread_detach", NIGH_BASE)
NIGH_OLD("pthread_sigmask", NIGH_BASE)
