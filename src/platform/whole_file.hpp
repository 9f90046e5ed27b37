// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files that are read and written as a whole. False: the system said no, errno says why.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nigh::platform {

// A longer file than `most` bytes is not read: EFBIG.
bool read_whole_file(char const* name, std::string& text, std::size_t most = ~std::size_t{0});

// At most so many bytes from its beginning.
bool read_beginning(char const* name, std::string& text, std::size_t most);

// Empty where the file cannot be read.
std::string text_of(std::string const& file);

// Its size, or the room it takes where that is less, as for a file with holes. 0: there is none.
std::uint64_t bytes_on_disk(std::string const& file) noexcept;

// To a file of its own first: whoever reads it meanwhile, or when the system fails, has a whole
// one. Not in place of something that is no regular file.
bool replace_file(char const* name, std::string_view text);

}  // namespace nigh::platform
