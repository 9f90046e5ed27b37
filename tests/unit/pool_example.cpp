// SPDX-License-Identifier: Apache-2.0
// For cli_pools_test: what a library that rayon is linked into has; with NIGH_NOTHING, nothing.
#ifndef NIGH_NOTHING
extern "C" __attribute__((visibility("default"), used)) char const where_it_panics[] =
    "/root/.cargo/registry/src/index.crates.io/rayon-core-1.12.1/src/registry.rs";
#endif
