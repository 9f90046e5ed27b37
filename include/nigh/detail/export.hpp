// SPDX-License-Identifier: Apache-2.0
#pragma once
// NIGH_API marks what the shared library exports; everything else in it is hidden.
#define NIGH_API __attribute__((visibility("default")))
