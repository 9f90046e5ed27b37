// SPDX-License-Identifier: Apache-2.0
#include "sim/json_lines.hpp"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

namespace nigh::sim {

namespace {

using nlohmann::json;

// Counts the lines that the parser has read; its copies count together.
struct Reader {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = char const*;
  using reference = char const&;

  char const* at = nullptr;
  int* line = nullptr;

  char const& operator*() const { return *at; }
  Reader& operator++() {
    if (*at++ == '\n') ++*line;
    return *this;
  }
  Reader operator++(int) {
    auto const before = *this;
    ++*this;
    return before;
  }
  bool operator==(Reader const& o) const { return at == o.at; }
  bool operator!=(Reader const& o) const { return at != o.at; }
};

// Notes at which line the parser was when it came upon each key and element.
class LineKeeper : public json::json_sax_t {
 public:
  LineKeeper(int const& line, std::map<std::string, int>& lines) : line_(line), lines_(lines) {}

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, string_t const&) override { return value(); }
  bool string(string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }
  bool start_object(std::size_t) override { return open(-1); }
  bool start_array(std::size_t) override { return open(0); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool key(string_t& name) override {
    levels_.back().key = name;
    lines_.emplace(here(), line_);
    if (!levels_.back().names.emplace(name, line_).second) twice_ = name;
    return twice_.empty();
  }
  bool parse_error(std::size_t, std::string const&, nlohmann::detail::exception const&) override {
    return false;
  }

  std::string const& twice() const { return twice_; }

 private:
  struct Level {
    int element = -1;  // of an array; -1: an object
    std::string key;
    std::map<std::string, int> names;
  };

  std::string here() const {
    std::string pointer;
    for (Level const& l : levels_)
      pointer += '/' + (l.element >= 0 ? std::to_string(l.element) : l.key);
    return pointer;
  }
  bool value() {
    lines_.emplace(here(), line_);
    if (!levels_.empty() && levels_.back().element >= 0) ++levels_.back().element;
    return true;
  }
  bool open(int element) {
    lines_.emplace(here(), line_);
    levels_.push_back({element, {}, {}});
    return true;
  }
  bool close() {
    levels_.pop_back();
    if (!levels_.empty() && levels_.back().element >= 0) ++levels_.back().element;
    return true;
  }

  int const& line_;
  std::map<std::string, int>& lines_;
  std::vector<Level> levels_;
  std::string twice_;
};

error at_line(std::string const& name, int line, std::string const& what) {
  return {name + ':' + std::to_string(line) + ": " + what};
}

}  // namespace

error JsonFile::complaint(std::string pointer, std::string const& what) const {
  auto found = lines.find(pointer);
  while (found == lines.end() && !pointer.empty()) {
    pointer.erase(pointer.rfind('/'));
    found = lines.find(pointer);
  }
  return at_line(name, found == lines.end() ? 1 : found->second, what);
}

result<JsonFile> parse_json(std::string name, std::string const& text) {
  JsonFile file{std::move(name), {}, {}};
  int line = 1;
  LineKeeper keeper(line, file.lines);
  Reader const begin{text.data(), &line}, end{text.data() + text.size(), &line};
  if (!json::sax_parse(begin, end, &keeper))
    return at_line(file.name, line,
                   keeper.twice().empty()
                       ? "this is no JSON"
                       : '"' + keeper.twice() + "\" is here for the second time");
  file.root = json::parse(text);
  return file;
}

result<std::string> read_text(std::filesystem::path const& path) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) return error{path.string() + ": is a directory"};
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) return error{path.string() + ": " + std::strerror(errno != 0 ? errno : EIO)};
  return std::string{std::istreambuf_iterator<char>(in), {}};
}

}  // namespace nigh::sim
