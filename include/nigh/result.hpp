// SPDX-License-Identifier: Apache-2.0
#pragma once
// A value, or one sentence that says why there is none. Used where the machine may refuse.

#include <nigh/detail/cxx20.hpp>

#include <nigh/detail/export.hpp>
#include <nigh/detail/standard_library.hpp>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>

namespace nigh {

// The reason, as one line for a person: names the argument or the object, no trailing newline.
struct error {
  std::string message;
};

namespace detail {
[[noreturn]] NIGH_API void no_value(error const& e);  // prints the message and aborts
}

// Either a T or an error. Reading the absent side is a bug and aborts with the message.
template <class T>
class [[nodiscard]] result {
 public:
  result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  result(error e) : state_(std::in_place_index<1>, std::move(e)) {}

  bool ok() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  T& value() & { return checked(); }
  T const& value() const& { return const_cast<result*>(this)->checked(); }
  T value() && { return std::move(checked()); }
  T& operator*() & { return checked(); }
  T const& operator*() const& { return value(); }
  T* operator->() { return &checked(); }
  T const* operator->() const { return &value(); }

  std::string const& message() const { return std::get<1>(state_).message; }
  error to_error() const { return std::get<1>(state_); }

 private:
  T& checked() {
    if (!ok()) detail::no_value(std::get<1>(state_));
    return std::get<0>(state_);
  }

  std::variant<T, error> state_;
};

// Success, or why not.
template <>
class [[nodiscard]] result<void> {
 public:
  result() = default;
  result(error e) : error_(std::move(e)), ok_(false) {}
  bool ok() const noexcept { return ok_; }
  explicit operator bool() const noexcept { return ok_; }
  std::string const& message() const { return error_.message; }
  error to_error() const { return error_; }

 private:
  error error_;
  bool ok_ = true;
};

}  // namespace nigh
