// SPDX-License-Identifier: Apache-2.0
#include "cli/run/places.hpp"

#include <charconv>
#include <cstddef>
#include <optional>

namespace nigh::cli {
namespace {

constexpr int most_cpus = 1 << 16;
constexpr std::size_t most_places = 1 << 14;

// Takes tokens from the front of the text; the first mistake is reported once, at the end.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool ended() const { return rest_.empty(); }
  bool take(char c) {
    if (rest_.empty() || rest_.front() != c) return false;
    rest_.remove_prefix(1);
    return true;
  }
  std::optional<int> number() {
    int value = 0;
    auto const [end, failed] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (failed != std::errc{} || value < 0 || value >= most_cpus) return {};
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }
  // One more cpu in the list; false: the number is too large, or the list too long. A short text
  // can name billions.
  bool count(int cpu) { return cpu < most_cpus && ++counted_ <= most_cpus; }

 private:
  int counted_ = 0;
  std::string_view rest_;
};

struct Repeat {
  int count = 1, stride = 1;
};

// ":count[:stride]", or nothing.
std::optional<Repeat> repeat(Reader& in) {
  Repeat r;
  if (!in.take(':')) return r;
  auto const count = in.number();
  if (!count || *count == 0) return {};
  r.count = *count;
  if (!in.take(':')) return r;
  auto const stride = in.number();
  if (!stride || *stride == 0) return {};
  r.stride = *stride;
  return r;
}

// "3", "3-5" or, inside braces, "3:2:4".
std::optional<Place> cpus(Reader& in, bool in_braces) {
  auto const first = in.number();
  if (!first) return {};
  Place found;
  if (in.take('-')) {
    auto const last = in.number();
    if (!last || *last < *first) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) {
      if (!in.count(cpu)) return {};
      found.push_back(cpu);
    }
    return found;
  }
  auto const times = in_braces ? repeat(in) : Repeat{};
  if (!times) return {};
  for (int i = 0, cpu = *first; i < times->count; ++i, cpu += times->stride) {
    if (!in.count(cpu)) return {};
    found.push_back(cpu);
  }
  return found;
}

std::optional<Place> place(Reader& in) {
  Place all;
  do {
    auto const some = cpus(in, true);
    if (!some) return {};
    all.insert(all.end(), some->begin(), some->end());
  } while (in.take(','));
  if (!in.take('}')) return {};
  return all;
}

bool append_item(Reader& in, std::vector<Place>& places) {
  if (!in.take('{')) {
    auto const list = cpus(in, false);
    if (!list) return false;
    for (int const cpu : *list) places.push_back({cpu});
    return true;
  }
  auto const one = place(in);
  auto const times = one ? repeat(in) : std::nullopt;
  if (!times) return false;
  for (int i = 0; i < times->count && places.size() <= most_places; ++i) {
    Place moved = *one;
    for (int& cpu : moved) {
      cpu += i * times->stride;
      if (i > 0 && !in.count(cpu)) return false;
    }
    places.push_back(std::move(moved));
  }
  return true;
}

}  // namespace

result<std::vector<Place>> parse_places(std::string_view text) {
  Reader in(text);
  std::vector<Place> places;
  bool good = true;
  do good = append_item(in, places);
  while (good && in.take(','));
  constexpr std::size_t longest = 100;  // to quote
  if (!good || !in.ended())
    return error{"'" + std::string(text.substr(0, longest)) + (text.size() > longest ? "..." : "") +
                 "' is no list of cpus as 0,2,4-7 or places as {0,1},{2,3}"};
  if (places.size() > most_places)
    return error{"more than " + std::to_string(most_places) + " places"};
  return places;
}

std::string to_string(std::span<Place const> places) {
  std::string text;
  for (auto const& place : places) {
    text += text.empty() ? "{" : ",{";
    for (std::size_t i = 0; i < place.size(); ++i)
      text += (i > 0 ? "," : "") + std::to_string(place[i]);
    text += '}';
  }
  return text;
}

}  // namespace nigh::cli
