// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that are read and written as a whole. False: the system said no, errno says why.

#include <cstddef>
#include <string>
#include <string_view>

namespace nigh::platform {

bool read_whole_file(char const* name, std::string& text);

// At most so many bytes from its beginning.
bool read_beginning(char const* name, std::string& text, std::size_t most);

// Empty where the file cannot be read.
std::string text_of(std::string const& file);

// To a file of its own first: whoever reads it meanwhile, or when the system fails, has a whole
// one.
bool replace_file(char const* name, std::string_view text);

}  // namespace nigh::platform
