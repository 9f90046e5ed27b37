// SPDX-License-Identifier: Apache-2.0
#include "platform/program.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <system_error>

namespace nigh::platform {

std::filesystem::path this_program() {
  std::error_code failed;
  auto file = std::filesystem::read_symlink("/proc/self/exe", failed);
  return failed ? std::filesystem::path{} : file;
}

int process_id() noexcept { return ::getpid(); }

bool is_runnable(std::filesystem::path const& file) {
  std::error_code failed;
  return std::filesystem::is_regular_file(file, failed) && ::access(file.c_str(), X_OK) == 0;
}

error become(std::filesystem::path const& program, std::vector<std::string> const& arguments) {
  std::string name = program.string();
  std::vector<std::string> copies = arguments;
  std::vector<char*> pointers{name.data()};
  for (auto& argument : copies) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  ::execv(name.c_str(), pointers.data());
  return error{"cannot run " + name + ": " + std::strerror(errno)};
}

}  // namespace nigh::platform
