// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which names of a preloaded library does its host see? Those that it would otherwise find
// elsewhere.

#define NIGH_HIDDEN __attribute__((visibility("hidden")))
#define NIGH_INTERPOSED extern "C" __attribute__((visibility("default")))
