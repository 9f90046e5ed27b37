// SPDX-License-Identifier: Apache-2.0
#pragma once
// per_worker<T>: a value of its own for each thread that asks, and one result from all of them.

#include <nigh/detail/cxx20.hpp>

#include <concepts>
#include <cstddef>
#include <nigh/detail/atomic.hpp>
#include <nigh/detail/export.hpp>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <optional>
#include <type_traits>
#include <utility>

namespace nigh {

namespace detail {

inline constexpr int thread_numbers = 2048;

// The calling thread's number in 0 .. thread_numbers - 1, which no other thread has until this one
// ends; -1 before it has asked for one.
NIGH_API extern constinit thread_local int this_thread_number;
// Gives it one. std::length_error when as many threads as there are numbers have theirs.
NIGH_API int take_thread_number();

inline int thread_number() {
  int const number = this_thread_number;
  return number >= 0 ? number : take_thread_number();
}

}  // namespace detail

// In place of an array of omp_get_max_threads() elements, and of a thread_local variable:
//
//   nigh::per_worker<std::vector<long>> counts([&] { return std::vector<long>(bins); });
//   nigh::parallel_for(std::size_t{0}, n, [&](std::size_t i) { ++counts.local()[bin(x[i])]; });
//   counts.for_each([&](std::vector<long> const& some) { add(total, some); });
//
// Any thread may call local(): workers of any runtime, their backup threads, and threads from
// outside. The value is made by the first call of each thread, in that thread, so that its memory
// is near; no two values share a cache line (128 bytes, for processors that fetch two lines at
// once). At the cost of a few loads, local() then finds it again. A thread that ends leaves its
// value behind; a later thread may go on with it.
//
// There are 2048 slots: so many threads of the process may have values at once, of all per_workers
// together. In the next one, local() throws std::length_error, until a thread has ended that had
// asked for a value. An object takes 16 KiB, and for each thread that has asked sizeof(T), rounded
// up to multiples of 128 bytes.
//
// A thread that waits (in a join, a loop, a scope) may run other tasks, and these use the value,
// too: do not keep a reference, or a half-done change, across a wait.
//
// Names as in oneTBB, whose combinable this is.
template <class T>
class per_worker {
  static_assert(std::is_object_v<T> && !std::is_const_v<T> && !std::is_array_v<T>,
                "nigh::per_worker<T> keeps objects that can change");

 public:
  using value_type = T;
  static constexpr int slots = detail::thread_numbers;

  // Values begin as T().
  per_worker()
    requires std::default_initializable<T>
      : per_worker([] { return T(); }) {}
  // Values begin as copies of this one.
  explicit per_worker(T const& initial)
    requires std::copy_constructible<T>
      : per_worker([initial] { return initial; }) {}
  // Values begin as what make() returns. Several threads may call it at once. When it throws, the
  // exception leaves local(), and the thread's next call tries again.
  template <class Make>
    requires std::is_invocable_r_v<T, Make const&>
  explicit per_worker(Make make)
      : make_(new Maker<Make>(std::move(make))),
        values_(new sync::atomic<Padded*>[slots]{}) {}

  ~per_worker() { clear(); }
  per_worker(per_worker&&) = delete;
  per_worker& operator=(per_worker&&) = delete;

  // The calling thread's value.
  T& local() {
    auto& slot = values_[static_cast<std::size_t>(detail::thread_number())];
    auto* value = slot.load(sync::relaxed);
    if (value == nullptr) [[unlikely]]
      value = make_in(slot);
    return value->value;
  }
  // The same; tells whether it had one before.
  T& local(bool& existed) {
    auto const number = static_cast<std::size_t>(detail::thread_number());
    existed = values_[number].load(sync::relaxed) != nullptr;
    return local();
  }

  // The rest is for one thread, while no other one calls local() or uses its value: after the loop,
  // the join or the wait. All go over the slots, in their order, which tells nothing of the order
  // in which values were made.

  // Calls f(value) for every value that has been made.
  template <class F>
  void for_each(F&& f) {
    visit([&](Padded& one) { detail::call(f, one.value); });
  }
  template <class F>
  void for_each(F&& f) const {
    visit([&](Padded const& one) { detail::call(f, one.value); });
  }

  // combine(combine(first, second), third) ...: `combine` is associative and commutative. The one
  // value where there is one, a new one where there is none. The values stay.
  template <class Combine>
    requires std::is_invocable_r_v<T, Combine&, T, T const&>
  T combine(Combine combine) const {
    std::optional<T> all;
    visit([&](Padded const& one) {
      if (all)
        all.emplace(detail::call(combine, *std::exchange(all, std::nullopt), one.value));
      else
        all.emplace(one.value);
    });
    return all ? std::move(*all) : make_->plain();
  }

  std::size_t size() const noexcept {  // values that have been made
    std::size_t count = 0;
    visit([&](Padded const&) { ++count; });
    return count;
  }
  bool empty() const noexcept { return size() == 0; }

  // Destroys all values: local() makes new ones.
  void clear() noexcept {
    for (std::size_t i = 0; i < slots; ++i) delete values_[i].exchange(nullptr, sync::relaxed);
  }

 private:
  struct alignas(alignof(T) > 128 ? alignof(T) : 128) Padded {
    template <class Make>
    explicit Padded(Make const& make) : value(detail::call(make)) {}
    T value;
  };
  struct AnyMaker {
    virtual ~AnyMaker() = default;
    virtual Padded* made() const = 0;  // on the heap
    virtual T plain() const = 0;
  };
  template <class Make>
  struct Maker final : AnyMaker {
    explicit Maker(Make make) : make_(std::move(make)) {}
    Padded* made() const override { return new Padded(make_); }
    T plain() const override { return detail::call(make_); }
    Make make_;
  };

  // make() may run other tasks of this thread, which then has a value already.
  Padded* make_in(sync::atomic<Padded*>& slot) {
    auto* const made = make_->made();
    if (auto* const earlier = slot.load(sync::relaxed)) {
      delete made;
      return earlier;
    }
    slot.store(made, sync::relaxed);
    return made;
  }
  template <class F>
  void visit(F const& f) const {
    for (std::size_t i = 0; i < slots; ++i)
      if (auto* const value = values_[i].load(sync::relaxed)) f(*value);
  }

  detail::owned<AnyMaker const> make_;
  // [number of the thread]. A slot is written by its thread alone; others read it after a join. A
  // later thread with the same number has taken it over under a lock.
  detail::owned<sync::atomic<Padded*>[]> values_;
};

template <class Make>
  requires std::invocable<Make const&>
per_worker(Make) -> per_worker<std::decay_t<std::invoke_result_t<Make const&>>>;
template <class T>
per_worker(T) -> per_worker<T>;

}  // namespace nigh
