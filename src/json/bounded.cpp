// SPDX-License-Identifier: Apache-2.0
#include "json/bounded.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>
#include <utility>

namespace nigh::json {
namespace {

// The bytes that nlohmann and glibc take: an element of a list that may have just grown; a node of
// a map, with its key; what an object, a list or a text has outside of its value.
constexpr std::size_t of_value = 32, of_member = 96, of_object = 64, of_list = 32, of_text = 48;
constexpr std::size_t longest_inside = 15;  // of a text, without an allocation

std::size_t outside(std::string const& text) {
  return text.size() > longest_inside ? text.size() + 24 : 0;
}

}  // namespace

bool Builder::spend(std::size_t bytes) {
  if (bytes > memory_left_) return fail(Fault::memory);
  memory_left_ -= bytes;
  return true;
}

bool Builder::spend_on_value() {
  bool const is_member = !open_.empty() && open_.back()->is_object();
  return is_member || spend(of_value);
}

bool Builder::string(string_t& value) {
  return spend(of_text + outside(value)) && put(std::move(value));
}

bool Builder::key(string_t& name) {
  if (!spend(of_member + outside(name))) return false;
  key_ = std::move(name);
  return true;
}

nlohmann::json* Builder::add(nlohmann::json value) {
  if (open_.empty()) return &(root_ = std::move(value));
  auto& in = *open_.back();
  if (in.is_object()) return &(in[key_] = std::move(value));
  if (is_giving_ && open_.size() == 2) {
    given_ = std::move(value);
    if (!given_.is_structured()) give_(given_);
    return &given_;
  }
  in.push_back(std::move(value));
  return &in.back();
}

bool Builder::open(nlohmann::json value) {
  if (open_.size() == limits_.depth) return fail(Fault::depth);
  bool const is_list = value.is_array();
  bool const is_element = is_giving_ && open_.size() == 2;
  if (is_element) memory_before_ = memory_left_;
  if (!spend_on_value() || !spend(is_list ? of_list : of_object)) return false;
  bool const begins =
      give_ && is_list && open_.size() == 1 && root_.is_object() && key_ == given_name_;
  open_.push_back(add(std::move(value)));
  if (begins) is_giving_ = true;
  return true;
}

bool Builder::close() {
  open_.pop_back();
  if (!is_giving_ || open_.size() > 2) return true;
  if (open_.size() < 2) {
    is_giving_ = false;
    return true;
  }
  give_(std::exchange(given_, {}));
  memory_left_ = memory_before_;
  return true;
}

bool Builder::parse_error(std::size_t at, std::string const&, nlohmann::json::exception const&) {
  fault_at_ = at;
  return fail(Fault::syntax);
}

std::string said_of(Builder::Fault fault, Limits const& limits) {
  switch (fault) {
    case Builder::Fault::depth:
      return "is nested deeper than " + std::to_string(limits.depth) + " levels";
    case Builder::Fault::memory:
      return "has more values than a file of its size should have";
    case Builder::Fault::bytes:
      return "is larger than " + std::to_string(limits.bytes) + " bytes";
    case Builder::Fault::syntax:
      return "is cut or damaged: no JSON";
    case Builder::Fault::none:
      break;
  }
  return {};
}

result<nlohmann::json> read(std::string_view text, Limits limits) {
  if (text.size() > limits.bytes) return error{said_of(Builder::Fault::bytes, limits)};
  Builder builder(limits, text.size());
  if (nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return builder.take();
  return error{said_of(builder.fault(), limits)};
}

result<std::string> read_file(std::filesystem::path const& file, std::size_t most_bytes,
                              std::string_view said_before) {
  std::error_code failed;
  if (std::filesystem::is_directory(file, failed)) return error{"is a directory"};
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  auto const said_no = [&] {
    return error{std::string(said_before) + std::strerror(errno != 0 ? errno : EIO)};
  };
  if (!in.is_open()) return said_no();
  auto const size = std::filesystem::file_size(file, failed);  // 0 for anything but a regular file
  if (!failed && size > most_bytes) return error{said_of(Builder::Fault::bytes, {most_bytes, 0})};
  // Where the size is known, the text need not grow by doubling.
  std::string text;
  if (!failed) text.reserve(static_cast<std::size_t>(size) + 1);
  constexpr std::size_t part = 1 << 16;
  for (std::size_t got = part; got == part;) {
    auto const before = text.size();
    auto const room = std::min(part, most_bytes + 1 - before);
    text.resize(before + room);
    in.read(text.data() + before, static_cast<std::streamsize>(room));
    got = static_cast<std::size_t>(in.gcount());
    text.resize(before + got);
    if (text.size() > most_bytes) return error{said_of(Builder::Fault::bytes, {most_bytes, 0})};
  }
  if (in.bad()) return said_no();
  return text;
}

}  // namespace nigh::json
