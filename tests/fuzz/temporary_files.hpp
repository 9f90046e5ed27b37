// SPDX-License-Identifier: Apache-2.0
#pragma once
// Files for entries that read a file by its name: in a folder of this process, gone with it.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <system_error>

namespace fuzz {

class TemporaryFiles {
 public:
  TemporaryFiles() {
    std::error_code failed;
    auto const shm = std::filesystem::path("/dev/shm");  // of memory, where there is one
    auto const parent =
        std::filesystem::is_directory(shm, failed) ? shm : std::filesystem::temp_directory_path();
    auto name = (parent / "nigh-fuzz.XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    folder_ = name;
  }
  ~TemporaryFiles() {
    std::error_code failed;
    std::filesystem::remove_all(folder_, failed);
  }
  TemporaryFiles(TemporaryFiles&&) = delete;

  std::filesystem::path path(std::string const& name) const { return folder_ / name; }
  std::filesystem::path write(std::string const& name, std::string_view bytes) const {
    std::ofstream out(path(name), std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out.flush()) std::abort();
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace fuzz
