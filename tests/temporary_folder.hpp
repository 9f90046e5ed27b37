// SPDX-License-Identifier: Apache-2.0
#pragma once
// A folder for one test, removed with all that is in it however the test ends.

#include <stdlib.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <system_error>

namespace nigh::test {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    char name[] = "/tmp/nigh-test-XXXXXX";  // short: the name of a socket in it has 107 bytes
    if (::mkdtemp(name) == nullptr) throw std::system_error(errno, std::generic_category(), name);
    path_ = name;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(TemporaryFolder&&) = delete;
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;

  std::filesystem::path const& path() const noexcept { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace nigh::test
