// SPDX-License-Identifier: Apache-2.0
#pragma once
// The sum of samples of a program: where its threads ran, how often they moved, where its pages
// lay. Plain data in, plain data out.

#include <cstddef>
#include <cstdint>
#include <map>
#include <nigh/topology.hpp>
#include <string>
#include <utility>
#include <vector>

#include "platform/process_usage.hpp"

namespace nigh::cli {

class Whereabouts {
 public:
  struct Thread {
    int process = 0, number = 0;
    std::string name;
    std::uint64_t busy_ns = 0;
    std::map<int, std::uint64_t> busy_on;  // [cpu]: of busy_ns, as far as the samples tell
    std::uint64_t migrations = 0;
    int last_cpu = -1;
  };

  void add(std::vector<platform::ThreadSample> const& sample);
  // Of all processes together; the sample with the most bytes is kept.
  void add_pages(std::map<int, std::uint64_t> bytes_by_node);

  std::vector<Thread> const& threads() const { return threads_; }  // in order of appearance
  std::map<int, std::uint64_t> const& pages() const { return pages_; }
  std::size_t samples() const { return samples_; }
  bool kernel_counts_migrations() const { return kernel_counts_; }

 private:
  Thread& thread(platform::ThreadSample const& sample);

  std::vector<Thread> threads_;
  std::map<std::pair<int, int>, std::size_t> index_;
  std::map<int, std::uint64_t> pages_;
  std::size_t samples_ = 0;
  bool kernel_counts_ = false;
};

// Lines for a person. `cpu_seconds` is what the program used altogether.
std::string report(Whereabouts const& seen, topology const& machine, double seconds,
                   double cpu_seconds);

}  // namespace nigh::cli
