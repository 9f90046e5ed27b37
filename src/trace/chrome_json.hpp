// SPDX-License-Identifier: Apache-2.0
#pragma once
// Events as the Chrome trace event format has them, which ui.perfetto.dev and chrome://tracing
// open: https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
//
// A runtime is shown as a process, a worker as one of its threads. Tasks, searches and sleeps are
// complete events ("X") and nest, as the format demands; steals and serialized tasks are instants
// ("i"), queue lengths counters ("C"), names metadata ("M").

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "trace/event.hpp"

namespace nigh::trace::chrome {

// The "format" of a file; files of the first format have no such entry.
inline constexpr int format = 2;

// With its quotes; bytes that are no UTF-8 become U+FFFD.
std::string json_string(std::string_view text);

// Each event ends with ",\n": a caller that joins events cuts the last one off.
void append_runtime(std::string& out, int runtime, std::string_view name);
void append_track_name(std::string& out, int runtime, int track, std::string_view name);

// An event that has begun and not ended is shown to last until end_ns; an end without its
// beginning, which the ring has lost, is left out. Times are shown relative to zero_ns.
void append_track(std::string& out, int runtime, int track, std::string_view name,
                  std::span<Event const> events, std::int64_t zero_ns, std::int64_t end_ns);

}  // namespace nigh::trace::chrome
