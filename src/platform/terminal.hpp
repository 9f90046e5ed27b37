// SPDX-License-Identifier: Apache-2.0
#pragma once
// Who reads what we write.

namespace nigh::platform {

bool errors_go_to_a_terminal() noexcept;  // standard error

}  // namespace nigh::platform
