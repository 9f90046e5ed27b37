// SPDX-License-Identifier: Apache-2.0
#pragma once
// The four operations on blocks of b x b floats. Their loops are nested such that the innermost
// runs along rows; each element still sees its operations in BOTS's order, so results agree to the
// bit.

namespace sparselu {

void lu0(float* diagonal, int b) noexcept;                       // factorises it
void fwd(float const* diagonal, float* column, int b) noexcept;  // solves with its lower half
void bdiv(float const* diagonal, float* row, int b) noexcept;    // solves with its upper half
void bmod(float const* row, float const* column, float* inner,
          int b) noexcept;  // inner -= row x column

}  // namespace sparselu
