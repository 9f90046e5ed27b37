// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which names of a preloaded library its host sees: those that it would find elsewhere without it.

#define NIGH_HIDDEN __attribute__((visibility("hidden")))
#define NIGH_INTERPOSED extern "C" __attribute__((visibility("default")))
