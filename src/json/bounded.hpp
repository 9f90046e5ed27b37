// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one way in which nigh reads JSON. Anybody may have written the file, so its depth, its bytes
// and the memory of its values are bounded. nlohmann's parser needs no stack for depth, but other
// functions on values do (dump, compare, copy); and a value of two bytes may take eighty of memory.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <nigh/result.hpp>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace nigh::json {

struct Limits {
  std::size_t bytes = std::size_t{8} << 20;
  std::size_t depth = 32;
  // By our own estimate. A dense profile takes ten times its text.
  std::size_t memory_of(std::size_t text_bytes) const noexcept {
    return (std::size_t{24} << 20) + 7 * text_bytes;
  }
};

// Keeps the values that the parser finds, as far as the limits allow.
class Builder : public nlohmann::json::json_sax_t {
 public:
  enum class Fault : std::uint8_t { none, syntax, depth, memory, bytes };

  Builder(Limits limits, std::size_t text_bytes)
      : limits_(limits), memory_left_(limits.memory_of(text_bytes)) {}

  // The elements of the list of this name in the outermost object are handed over one by one and
  // not kept: a long list takes no more memory than its largest element.
  void give_away(std::string name, std::function<void(nlohmann::json const&)> to) {
    given_name_ = std::move(name);
    give_ = std::move(to);
  }

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, string_t const&) override { return put(value); }
  bool string(string_t& value) override;
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(nlohmann::json::object()); }
  bool start_array(std::size_t) override { return open(nlohmann::json::array()); }
  bool key(string_t& name) override;
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t at, std::string const&,
                   nlohmann::json::exception const& why) override;

  Fault fault() const noexcept { return fault_; }
  std::size_t fault_at() const noexcept { return fault_at_; }  // of syntax: the byte
  nlohmann::json take() { return std::move(root_); }

 protected:
  // For callers that keep something else of each value, too. False: that is too much.
  bool spend(std::size_t bytes);
  std::size_t depth() const noexcept { return open_.size(); }

 private:
  template <class Value>
  bool put(Value&& value) {
    return spend_on_value() && (add(std::forward<Value>(value)), true);
  }
  bool spend_on_value();
  nlohmann::json* add(nlohmann::json value);
  bool open(nlohmann::json value);
  bool close();
  bool fail(Fault fault) noexcept {
    fault_ = fault;
    return false;
  }

  Limits limits_;
  std::size_t memory_left_;
  nlohmann::json root_;
  std::vector<nlohmann::json*> open_;  // a list does not grow while one of its elements is open
  std::string key_;
  std::string given_name_;
  std::function<void(nlohmann::json const&)> give_;
  nlohmann::json given_;
  bool is_giving_ = false;
  std::size_t memory_before_ = 0;  // of what was handed over
  Fault fault_ = Fault::none;
  std::size_t fault_at_ = 0;
};

// "is nested deeper than 32 levels": one line, to follow the name of what was read.
std::string said_of(Builder::Fault fault, Limits const& limits);

result<nlohmann::json> read(std::string_view text, Limits limits = {});

// Reads no more than the limit of a file that is longer, or has no end. The error is as above;
// `said_before` precedes the system's own words.
result<std::string> read_file(std::filesystem::path const& file, std::size_t most_bytes,
                              std::string_view said_before = "cannot be read: ");

}  // namespace nigh::json
