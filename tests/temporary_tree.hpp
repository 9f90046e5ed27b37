// SPDX-License-Identifier: Apache-2.0
#pragma once
// A temporary folder with the files of a made-up system, such as those of /proc and /sys.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "temporary_folder.hpp"

namespace nigh::test {

class TemporaryTree : public testing::Test {
 protected:
  void file(std::string const& path, std::string const& text) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }

  TemporaryFolder const folder_;
  std::filesystem::path const root_ = folder_.path();
};

}  // namespace nigh::test
