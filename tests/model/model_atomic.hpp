// SPDX-License-Identifier: Apache-2.0
#pragma once
// sync::atomic for model-check builds: every operation goes through the explorer.

#include <cstdint>
#include <source_location>
#include <type_traits>

#include "explorer.hpp"

namespace nigh::sync {

inline constexpr auto relaxed = model::Order::relaxed;
inline constexpr auto acquire = model::Order::acquire;
inline constexpr auto release = model::Order::release;
inline constexpr auto acq_rel = model::Order::acq_rel;
inline constexpr auto seq_cst = model::Order::seq_cst;

inline constexpr int spins = 1;
inline void pause() { model::yield(); }
inline void prefetch(void const*) {}
inline void prefetch_for_write(void const*) {}
// Both halves are whole fences here.
inline void light_fence(std::source_location w = std::source_location::current()) {
  model::fence(w);
}

template <class T>
class atomic {
  using location = std::source_location;

  static std::uint64_t word(T value) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<std::uint64_t>(value);
    else
      return static_cast<std::uint64_t>(value);
  }
  static T value(std::uint64_t word) {
    if constexpr (std::is_pointer_v<T>)
      return reinterpret_cast<T>(word);
    else
      return static_cast<T>(word);
  }

 public:
  atomic() : atomic(T{}) {}
  atomic(T initial) : at_(model::new_location(word(initial))) {}
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;

  T load(model::Order o, location w = location::current()) const {
    return value(model::load(at_, o, w));
  }
  void store(T v, model::Order o, location w = location::current()) {
    model::store(at_, word(v), o, w);
  }
  T exchange(T v, model::Order o, location w = location::current()) {
    return update(o, w, [v](T) { return v; });
  }
  T fetch_add(T v, model::Order o, location w = location::current()) {
    return update(o, w, [v](T old) { return static_cast<T>(old + v); });
  }
  T fetch_sub(T v, model::Order o, location w = location::current()) {
    return update(o, w, [v](T old) { return static_cast<T>(old - v); });
  }
  T fetch_or(T v, model::Order o, location w = location::current()) {
    return update(o, w, [v](T old) { return static_cast<T>(old | v); });
  }
  bool compare_exchange_strong(T& expected, T v, model::Order o, location w = location::current()) {
    bool equal = false;
    auto const f = [&](std::uint64_t old, std::uint64_t& now) {
      equal = value(old) == expected;
      now = word(v);
      return equal;
    };
    T const old = value(model::read_modify_write(at_, o, w, f));
    if (!equal) expected = old;
    return equal;
  }

  std::uint32_t location_id() const { return at_; }

 private:
  template <class F>
  T update(model::Order o, location const& w, F f) {
    auto const g = [&](std::uint64_t old, std::uint64_t& now) {
      now = word(f(value(old)));
      return true;
    };
    return value(model::read_modify_write(at_, o, w, g));
  }

  std::uint32_t at_;
};

}  // namespace nigh::sync
