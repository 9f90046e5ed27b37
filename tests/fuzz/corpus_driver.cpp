// SPDX-License-Identifier: Apache-2.0
// Feeds a fuzz entry the files of folders once, where there is no libFuzzer: corpus_driver
// FOLDER... A file that ends the program is named by the last line before.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fuzz/entry.hpp"

int main(int argc, char** argv) {
  namespace fs = std::filesystem;
  std::vector<fs::path> files;
  for (int i = 1; i < argc; ++i)
    for (auto const& entry : fs::directory_iterator(argv[i])) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (auto const& file : files) {
    std::printf("%s\n", file.c_str());
    std::fflush(stdout);
    std::ifstream in(file, std::ios::binary);
    std::vector<char> const bytes{std::istreambuf_iterator<char>(in), {}};
    LLVMFuzzerTestOneInput(reinterpret_cast<std::uint8_t const*>(bytes.data()), bytes.size());
  }
  std::printf("%zu files\n", files.size());
  return files.empty() ? 1 : 0;
}
