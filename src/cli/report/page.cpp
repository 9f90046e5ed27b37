// SPDX-License-Identifier: Apache-2.0
#include "cli/report/page.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands.hpp"
#include "cli/installed_files.hpp"
#include "cli/output_file.hpp"
#include "cli/program_output.hpp"
#include "platform/program.hpp"
#include "platform/whole_file.hpp"

namespace nigh::cli {
namespace fs = std::filesystem;
namespace {

std::string script_path() { return libexec_file("report/report.py").string(); }

// As the script writes it, among the first bytes.
bool is_report(std::string const& file) {
  constexpr std::size_t enough = 512;
  std::string begin;
  return platform::read_beginning(file.c_str(), begin, enough) &&
         begin.find(R"(<meta name="generator" content="nigh report">)") != begin.npos;
}

}  // namespace

Page::Page(std::string file, bool force) : file_(std::move(file)) {
  check_output(file_);
  std::error_code failed;
  if (!force && file_ != "-" && fs::is_regular_file(file_, failed) &&
      fs::file_size(file_, failed) > 0 && !is_report(file_))
    throw UsageError("--output: " + file_ +
                     " is there, and no report of nigh: --force replaces it");
  if (!fs::exists(script_path())) throw UsageError("report: " + script_path() + " is missing");
  auto python = platform::python_with("plotly", "plotly.graph_objects, plotly.offline");
  if (!python) throw UsageError("report: " + python.message());
  python_ = std::move(python).value();
}

void Page::write(nlohmann::ordered_json const& document) const {
  ProgramOutput const data, page;
  write_output(
      data.path().string(),
      document.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n');
  auto const status = platform::run_program(
      {python_, "-B", script_path(), data.path().string(), page.path().string()}, {});
  if (!status) throw std::runtime_error("report: " + status.message());
  constexpr int refused = 2;  // it has said why
  if (*status == refused) throw UsageError("report: nothing is written");
  if (*status != 0) throw std::runtime_error("report: the page could not be made");
  if (file_ == "-") {
    std::ifstream in(page.path(), std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(in), {}};
    if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size())
      throw UsageError("cannot write standard output");
    return;
  }
  write_output(file_, page.text());
}

}  // namespace nigh::cli
