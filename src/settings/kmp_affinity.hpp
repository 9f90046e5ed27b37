// SPDX-License-Identifier: Apache-2.0
#pragma once
// Does a value of KMP_AFFINITY bind threads? libomp reads a list such as "verbose,granularity=core,
// compact,1,0": one word is a type, and the others change how it is done. The default type is none.

#include <array>
#include <cstddef>
#include <string_view>

namespace nigh::settings {

namespace kmp_detail {

// Words that bind nothing.
inline constexpr std::array<std::string_view, 12> harmless{
    "none",    "disabled",  "verbose", "noverbose", "warnings",   "nowarnings",
    "respect", "norespect", "reset",   "noreset",   "duplicates", "noduplicates"};

constexpr char lower(char c) noexcept { return 'A' <= c && c <= 'Z' ? char(c - 'A' + 'a') : c; }

constexpr bool is_space(char c) noexcept { return c == ' ' || ('\t' <= c && c <= '\r'); }

constexpr bool begins_with(std::string_view text, std::string_view word) noexcept {
  if (text.size() < word.size()) return false;
  for (std::size_t i = 0; i < word.size(); ++i)
    if (lower(text[i]) != word[i]) return false;
  return true;
}

constexpr bool is_harmless(std::string_view word) noexcept {
  while (!word.empty() && is_space(word.front())) word.remove_prefix(1);
  while (!word.empty() && is_space(word.back())) word.remove_suffix(1);
  if (word.empty() || ('0' <= word.front() && word.front() <= '9')) return true;
  if (begins_with(word, "granularity=") || begins_with(word, "gran=")) return true;
  for (auto const known : harmless)
    if (word.size() == known.size() && begins_with(word, known)) return true;
  return false;
}

}  // namespace kmp_detail

// Unknown words count as binding.
constexpr bool kmp_affinity_binds(std::string_view value) noexcept {
  while (!value.empty()) {
    auto const word = value.substr(0, value.find(','));
    if (!kmp_detail::is_harmless(word)) return true;
    value.remove_prefix(word.size() < value.size() ? word.size() + 1 : word.size());
  }
  return false;
}

static_assert(!kmp_affinity_binds(""));
static_assert(!kmp_affinity_binds("none"));
static_assert(!kmp_affinity_binds(" Verbose, NONE"));
static_assert(!kmp_affinity_binds("disabled"));
static_assert(!kmp_affinity_binds("granularity=core,none,1,0"));
static_assert(kmp_affinity_binds("verbose,compact,1,0"));
static_assert(kmp_affinity_binds("granularity=fine,proclist=[0,1],explicit"));
static_assert(kmp_affinity_binds("nonesuch"));

}  // namespace nigh::settings
