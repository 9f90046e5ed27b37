// SPDX-License-Identifier: Apache-2.0
#pragma once
// Where another process's threads run, its code is from and its pages lie right now, as /proc
// tells; and how much memory this process has needed.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace nigh::platform {

struct ThreadSample {
  int process = 0;
  int thread = 0;
  std::string name;
  int cpu = -1;                             // it runs on, or ran on last
  std::uint64_t busy_ns = 0;                // on a cpu since it began
  std::optional<std::uint64_t> migrations;  // since it began, where the kernel counts them
};

// `proc` is "/proc" except in tests.

// The process and its descendants; empty when it is gone.
std::vector<int> process_tree(int root, std::filesystem::path const& proc = "/proc");

std::vector<ThreadSample> threads_of(int process, std::filesystem::path const& proc = "/proc");

// Files that it executes code from, its program among them; empty when we may not know.
std::vector<std::filesystem::path> mapped_code(int process,
                                               std::filesystem::path const& proc = "/proc");

// Whether all its rights come from our user, as ours do. False when it is gone.
bool is_own_process(int process);

// Bytes by NUMA node of the process's private and shared memory that no file backs. Empty when the
// kernel does not say. Walks all its page tables: some milliseconds per gigabyte.
std::optional<std::map<int, std::uint64_t>> bytes_by_node(
    int process, std::filesystem::path const& proc = "/proc");

// The most memory that this process has had at a time so far.
std::uint64_t most_bytes_resident() noexcept;

}  // namespace nigh::platform
