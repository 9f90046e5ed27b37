// SPDX-License-Identifier: Apache-2.0
#pragma once
// The user's word on the sizes of OpenMP teams (`nigh run --adjust`, NIGH_ADJUST): a list such as
// "without-clause,libfoo=none". A word alone is for all regions; NAME=WORD is for those of a
// library or of the program, and wins. NAME alone is NAME=without-clause.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nigh::settings {

enum class Adjust : std::uint8_t {
  as_known,  // teams keep their size, unless their region is known not to need it
  none,            // all teams keep their size
  without_clause,  // those without a num_threads clause may be smaller
  all,             // those with a clause, too
  nests,  // and clauses count for nothing in regions that hold others, or are held
};

struct AdjustItem {
  std::string_view library;  // empty: for all regions
  Adjust adjust = Adjust::as_known;

  constexpr bool operator==(AdjustItem const&) const = default;
};

namespace adjust_detail {

struct Word {
  std::string_view text;
  Adjust adjust;
};
inline constexpr std::array<Word, 4> words{{{"none", Adjust::none},
                                            {"without-clause", Adjust::without_clause},
                                            {"all", Adjust::all},
                                            {"nests", Adjust::nests}}};

constexpr Adjust word_of(std::string_view text) noexcept {
  for (auto const& word : words)
    if (word.text == text) return word.adjust;
  return Adjust::as_known;
}

// The part before the first `end`; both are taken off `rest`. (Not substr(): it throws.)
constexpr std::string_view take_until(char end, std::string_view& rest) noexcept {
  std::size_t const length = rest.find(end) == rest.npos ? rest.size() : rest.find(end);
  std::string_view const taken(rest.data(), length);
  rest.remove_prefix(length < rest.size() ? length + 1 : length);
  return taken;
}

constexpr bool is_name(std::string_view text) noexcept {
  for (char const c : text)
    if (c <= ' ' || c == '=' || c == '\x7f') return false;
  return !text.empty();
}

// False: it is no item.
constexpr bool read_item(std::string_view text, AdjustItem& item) noexcept {
  bool const has_word = text.find('=') != text.npos;
  std::string_view rest = text;
  auto const name = take_until('=', rest);
  if (!has_word && word_of(name) != Adjust::as_known) {
    item = {{}, word_of(name)};
    return true;
  }
  item = {name, has_word ? word_of(rest) : Adjust::without_clause};
  return is_name(name) && word_of(name) == Adjust::as_known && item.adjust != Adjust::as_known &&
         item.adjust != Adjust::nests;  // a nest may span several libraries
}

}  // namespace adjust_detail

// Shows each item to `take`, up to the first text that is none: that text is `wrong` then, and the
// answer is false.
template <class Take>
constexpr bool read_adjust(std::string_view list, std::string_view& wrong, Take&& take) {
  for (bool is_more = true; is_more;) {
    is_more = list.find(',') != list.npos;
    auto const text = adjust_detail::take_until(',', list);
    AdjustItem item;
    if (!adjust_detail::read_item(text, item)) {
      wrong = text;
      return false;
    }
    take(item);
  }
  return true;
}

// Whether NAME is this file: the file's name begins with it, with "lib" before it or not, and goes
// on with no letter ("blas" is libblas.so.3, but not libblast.so). NAME with a slash is a part of
// the path.
constexpr bool names_file(std::string_view name, std::string_view path) noexcept {
  if (name.empty()) return false;
  if (name.find('/') != name.npos) return path.find(name) != path.npos;
  if (path.rfind('/') != path.npos) path.remove_prefix(path.rfind('/') + 1);
  if (!path.starts_with(name) && path.starts_with("lib")) path.remove_prefix(3);
  if (!path.starts_with(name)) return false;
  path.remove_prefix(name.size());
  if (path.empty()) return true;
  char const next = path.front();
  return !(('a' <= next && next <= 'z') || ('A' <= next && next <= 'Z'));
}

static_assert(names_file("libfoo", "/usr/lib/libfoo.so.1") && names_file("foo", "libfoo-2.so"));
static_assert(names_file("libfoo.so.1", "/lib/libfoo.so.1") && names_file("solver", "/opt/solver"));
static_assert(!names_file("libfoo", "/usr/lib/libfool.so") && !names_file("foo", "/foo/bar.so"));
static_assert(names_file("/sklearn/", "/x/sklearn/y.so") && !names_file("", "libfoo.so"));

}  // namespace nigh::settings
