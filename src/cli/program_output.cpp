// SPDX-License-Identifier: Apache-2.0
#include "cli/program_output.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "platform/own_path.hpp"
#include "platform/temporary_folder.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;

ProgramOutput::ProgramOutput() {
  auto const directory = platform::temporary_folder();
  auto made = platform::make_temporary_file(directory, "nigh-output.");
  if (!made)
    throw std::runtime_error("no file can be made in " + directory.string() + ": " +
                             made.message());
  path_ = std::move(made).value();
}

ProgramOutput::~ProgramOutput() {
  std::error_code failed;
  fs::remove(path_, failed);
}

std::string ProgramOutput::text() const {
  std::ifstream in(path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string ProgramOutput::end() const {
  constexpr std::uintmax_t enough = 1 << 20;
  std::error_code failed;
  auto const size = fs::file_size(path_, failed);
  std::ifstream in(path_, std::ios::binary);
  if (!failed && size > enough) in.seekg(static_cast<std::streamoff>(size - enough));
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string last_lines(std::string text, int lines) {
  auto const in_words = [](char c) {
    constexpr unsigned char ascii_end = 0x80;
    auto const byte = static_cast<unsigned char>(c);
    return byte >= ascii_end || std::isalnum(byte) != 0;
  };
  auto const behind_words = std::find_if(text.rbegin(), text.rend(), in_words).base();
  if (behind_words != text.begin()) text.erase(std::find(behind_words, text.end(), '\n'), text.end());
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  auto start = text.size();
  for (; lines > 0 && start != text.npos && start > 0; --lines) start = text.rfind('\n', start - 1);
  return start == text.npos || text.empty() ? text : text.substr(start + (text[start] == '\n'));
}

}  // namespace nigh::cli
