// SPDX-License-Identifier: Apache-2.0
// Any answers of a coordinator for nigh status: each of the input's messages as decoded; the text
// of
// --json is valid, and has nothing that a terminal would obey.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <variant>

#include "cli/status_json.hpp"
#include "coordinator/protocol/codec.hpp"
#include "fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace nigh::coordinator;
  HostStatus all;
  nigh::cli::ProcessRegions regions;
  auto left = std::as_bytes(std::span(data, size));
  constexpr auto one = wire_size<Status>();
  while (left.size() >= one && all.programs.size() < 8) {
    auto const decoded = decode_from_coordinator(left.first(one));
    auto const* const message = std::get_if<CoordinatorMessage>(&decoded);
    auto const* const status = message != nullptr ? std::get_if<Status>(message) : nullptr;
    if (status != nullptr) {
      all.host = *status;
      all.programs.push_back(*status);
      static_cast<void>(regions.code_of(*status));
    }
    left = left.subspan(one);
  }
  auto const text = nigh::cli::text_of(nigh::cli::status_json("/run/nighd.sock", all));
  fuzz::require(nlohmann::json::accept(text), "the answer is JSON");
  fuzz::require(
      std::none_of(text.begin(), text.end(),
                   [](char c) { return (c >= 0 && c < ' ' && c != '\n') || c == '\x7f'; }),
      "it has no control characters");
  return 0;
}
