// SPDX-License-Identifier: Apache-2.0
#pragma once
// The interface between the templates of the loops and the engine in src/loops/.

#include <cstddef>
#include <nigh/detail/export.hpp>
#include <nigh/loop_options.hpp>
#include <type_traits>
#include <utility>

namespace nigh::detail {

// One thread's part in a loop: where it gets its pieces from.
class loop_part;

// The next piece, as offsets from the loop's first iteration, never empty; false when nothing is
// left for this thread.
NIGH_API bool next_piece(loop_part& part, index_range& piece) noexcept;
// No thread begins a piece any more.
NIGH_API void leave_loop(loop_part& part) noexcept;

// Each thread that takes part calls it once: it fetches the thread's pieces. May throw.
struct loop_work {
  void* self;
  void (*run)(void* self, loop_part& part);
};

struct loop_range {
  std::size_t first;  // iteration's number, as placements count
  std::size_t count;
  // Iterations probably take as long as each other, and not long: those of an algorithm over many.
  bool alike = false;
};

// Runs the work in all threads that come, until no piece is left; rethrows.
NIGH_API void run_loop(loop_range range, loop_options const& options, loop_work work);

// As many elements as a small page has room for, at least one.
constexpr std::size_t page_of_elements(std::size_t bytes) noexcept {
  return bytes >= 4096 ? 1 : 4096 / bytes;
}

// Of the runtime in which such a loop would run.
NIGH_API std::size_t workers_for_loops(runtime* where);

template <class T>
struct unshared {  // an element of a vector that threads write to: not a bit of a vector<bool>
  T value;
};

// std::invalid_argument: a loop over unsigned indices begins at a negative one.
[[noreturn]] NIGH_API void refuse_negative(long long first, unsigned long long last);
// std::invalid_argument: a loop's box has more elements than can be counted.
[[noreturn]] NIGH_API void refuse_box();
// std::invalid_argument: WHAT of COUNT elements INTO OTHER.
[[noreturn]] NIGH_API void refuse_lengths(char const* what, std::size_t count, char const* into,
                                          std::size_t other);

// Of [first, last); empty when it is reversed.
template <class Index, class First, class Last>
loop_range loop_extent(First first, Last last) {
  if (!std::cmp_less(+first, +last)) return {0, 0};  // characters compare as numbers
  if (std::is_unsigned_v<Index> && std::cmp_less(+first, 0))
    refuse_negative(static_cast<long long>(first), static_cast<unsigned long long>(last));
  return {static_cast<std::size_t>(first),
          static_cast<std::size_t>(last) - static_cast<std::size_t>(first)};
}

// f(piece) for pieces that together are the range, as offsets from its first iteration; where it
// returns loop_flow::leave, the loop ends early.
template <class F>
void each_piece(loop_range range, loop_options const& options, F const& f) {
  struct work {
    static void run(void* self, loop_part& part) {
      auto const& call = *static_cast<F const*>(self);
      index_range piece;
      while (next_piece(part, piece)) {
        if constexpr (std::is_void_v<std::invoke_result_t<F const&, index_range>>)
          call(piece);
        else if (call(piece) == loop_flow::leave)
          return leave_loop(part);
      }
    }
  };
  run_loop(range, options, {const_cast<F*>(&f), &work::run});
}

// Calls f, and returns whether the loop goes on.
template <class F, class... Arguments>
bool goes_on(F const& f, Arguments... arguments) {
  using value = std::invoke_result_t<F const&, Arguments...>;
  static_assert(std::is_void_v<value> || std::is_same_v<value, loop_flow>,
                "a loop's body returns void or nigh::loop_flow");
  if constexpr (std::is_void_v<value>) {
    f(arguments...);
    return true;
  } else {
    return f(arguments...) == loop_flow::go_on;
  }
}

// A copy that no other thread and no store of the body can reach keeps its captures in registers;
// large bodies, and those that are not plain data, are used in place.
template <class Body>
constexpr bool is_copied_to_hand() {
  if constexpr (std::is_trivially_copy_constructible_v<Body> && std::is_trivially_copyable_v<Body>)
    return sizeof(Body) <= 128;
  else
    return false;
}
template <class Body>
using body_at_hand = std::conditional_t<is_copied_to_hand<Body>(), Body const, Body const&>;

template <class Index, class Body>
struct for_pieces {
  Body const& shared;
  Index first;

  static constexpr bool by_index = std::is_invocable_v<Body const&, Index>;
  // The second condition is not evaluated after the first is true: for a body that takes `auto`,
  // even the question may not compile.
  static_assert(std::disjunction_v<std::is_invocable<Body const&, Index>,
                                   std::is_invocable<Body const&, index_range>>,
                "a loop's body takes an index or a nigh::index_range, and is called as const");

  static void run(void* self, loop_part& part) {
    auto const& me = *static_cast<for_pieces const*>(self);
    index_range piece;
    while (next_piece(part, piece))
      if (!me.run_piece(piece)) return leave_loop(part);
  }

  bool run_piece(index_range piece) const {
    body_at_hand<Body> body = shared;
    if constexpr (by_index) {
      auto const end = static_cast<Index>(static_cast<std::size_t>(first) + piece.end);
      for (auto i = static_cast<Index>(static_cast<std::size_t>(first) + piece.begin); i != end;
           ++i)
        if (!goes_on(body, i)) return false;
      return true;
    } else {
      auto const from = static_cast<std::size_t>(first);
      return goes_on(body, index_range{from + piece.begin, from + piece.end});
    }
  }
};

}  // namespace nigh::detail
