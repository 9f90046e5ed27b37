// SPDX-License-Identifier: Apache-2.0
#include "sim/json_lines.hpp"

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "json/bounded.hpp"

namespace nigh::sim {

namespace {

using Fault = nigh::json::Builder::Fault;

// Somebody writes them by hand: those that are here have 4 KB.
constexpr nigh::json::Limits machine_limits{largest_machine_file, 32};

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
class LineKeeper : public nigh::json::Builder {
 public:
  LineKeeper(std::size_t bytes, int const& line, std::map<std::string, int>& lines)
      : Builder(machine_limits, bytes), line_(line), lines_(lines) {}

  bool null() override { return note() && Builder::null() && next(); }
  bool boolean(bool v) override { return note() && Builder::boolean(v) && next(); }
  bool number_integer(number_integer_t v) override {
    return note() && Builder::number_integer(v) && next();
  }
  bool number_unsigned(number_unsigned_t v) override {
    return note() && Builder::number_unsigned(v) && next();
  }
  bool number_float(number_float_t v, string_t const& text) override {
    return note() && Builder::number_float(v, text) && next();
  }
  bool string(string_t& v) override { return note() && Builder::string(v) && next(); }
  bool start_object(std::size_t n) override {
    if (!note() || !Builder::start_object(n)) return false;
    levels_.push_back({-1, {}, {}});
    return true;
  }
  bool start_array(std::size_t n) override {
    if (!note() || !Builder::start_array(n)) return false;
    levels_.push_back({0, {}, {}});
    return true;
  }
  bool end_object() override { return close() && Builder::end_object(); }
  bool end_array() override { return close() && Builder::end_array(); }
  bool key(string_t& name) override {
    levels_.back().key = name;
    if (!note() || !spend(of_a_line + 2 * name.size())) return false;
    if (!levels_.back().names.emplace(name, line_).second) twice_ = name;
    return twice_.empty() && Builder::key(name);
  }

  std::string const& twice() const { return twice_; }

 private:
  static constexpr std::size_t of_a_line = 128;  // a node of a map, and its key

  struct Level {
    int element = -1;  // of an array; -1: an object
    std::string key;
    std::map<std::string, int> names;
  };

  // False: that is too much.
  bool note() {
    std::string pointer;
    for (Level const& l : levels_)
      pointer += '/' + (l.element >= 0 ? std::to_string(l.element) : l.key);
    if (!spend(of_a_line + pointer.size())) return false;
    lines_.emplace(std::move(pointer), line_);
    return true;
  }
  bool next() {
    if (!levels_.empty() && levels_.back().element >= 0) ++levels_.back().element;
    return true;
  }
  bool close() {
    levels_.pop_back();
    return next();
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
  auto const refused = [&](int line, Fault fault) {
    return at_line(file.name, line, "this " + nigh::json::said_of(fault, machine_limits));
  };
  if (text.size() > machine_limits.bytes) return refused(1, Fault::bytes);
  int line = 1;
  LineKeeper keeper(text.size(), line, file.lines);
  Reader const begin{text.data(), &line}, end{text.data() + text.size(), &line};
  if (!nlohmann::json::sax_parse(begin, end, &keeper)) {
    if (!keeper.twice().empty())
      return at_line(file.name, line, '"' + keeper.twice() + "\" is here for the second time");
    if (keeper.fault() != Fault::syntax) return refused(line, keeper.fault());
    return at_line(file.name, line, "this is no JSON");
  }
  file.root = keeper.take();
  return file;
}

result<std::string> read_text(std::filesystem::path const& path, std::size_t most_bytes) {
  auto text = nigh::json::read_file(path, most_bytes, "");
  if (!text) return error{path.string() + ": " + text.message()};
  return text;
}

}  // namespace nigh::sim
