// SPDX-License-Identifier: Apache-2.0
#pragma once
// Results as JSON lines (docs/results-schema.md).

#include <cstddef>
#include <cstdio>
#include <map>
#include <memory>
#include <nigh/topology.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace nigh::platform {
class Replacement;
}

namespace bench {

using Value = std::variant<long, double, std::string, std::nullptr_t>;  // null: not known here

// Where, when and with what a run was made; the same in each of its lines.
struct RunRecord {
  std::string commit, compiler, flags, machine, topology, date;
};

RunRecord record_run(nigh::topology const& machine);

struct Result {
  std::string bench, variant;
  std::map<std::string, Value> params;
  std::string metric, unit;
  std::vector<double> samples;
  std::optional<bool> verified;  // nothing: there was nothing to check
  std::map<std::string, Value> counters;
  std::string absent;  // why it was not measured; then there are no samples
};

std::string json_line(Result const& result, RunRecord const& run);

// Writes to another file first and gives it its name when all is there; "-" is standard output.
// Devices, pipes and our standard streams are written in place, and links are followed.
class ResultFile {
 public:
  // UsageError naming the argument when the file cannot be written. An empty name: no file.
  ResultFile(std::string const& argument, std::string name);
  ~ResultFile();  // leaves the file as it was when finish() was not reached
  ResultFile(ResultFile const&) = delete;
  ResultFile& operator=(ResultFile const&) = delete;

  void write(std::string const& line);
  void finish();

 private:
  std::string name_;
  std::unique_ptr<nigh::platform::Replacement> part_;
  std::FILE* file_ = nullptr;
};

// UsageError naming the argument when no file can be made under this name.
void check_writable(std::string const& argument, std::string const& file);

}  // namespace bench
