// SPDX-License-Identifier: Apache-2.0
#pragma once
// A trace as shares of parts of the time: how busy each worker was, and how many tasks ended and
// were stolen.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <nigh/result.hpp>
#include <string>
#include <vector>

namespace nigh::cli {

struct TraceSeries {
  struct Worker {
    std::string name = {};
    std::vector<double> working = {}, searching = {}, asleep = {};  // [part]: shares
  };
  double seconds = 0;
  std::vector<Worker> workers = {};
  std::vector<std::uint64_t> tasks = {};                          // [part]: that ended in it
  std::map<std::string, std::vector<std::uint64_t>> steals = {};  // [level][part]
};

// Of a trace that nigh has written, each event on a line. The error is one line.
result<TraceSeries> read_series(std::filesystem::path const& trace, std::size_t parts);

}  // namespace nigh::cli
