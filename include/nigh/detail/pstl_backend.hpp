// SPDX-License-Identifier: Apache-2.0
#pragma once
// The back end that libstdc++'s parallel algorithms need, done by nigh's loops and forks. The names
// that libstdc++ calls are in <nigh/pstl.hpp>; here are the same functions in nigh's words.
//
// A *brick* is libstdc++'s word for a serial function of a piece [i, j) of the range. Its indices
// are iterators or integers. Bricks and operations are called from several threads at once, on one
// object; libstdc++ copies function objects where it makes a brick, never here.

#include <algorithm>
#include <atomic>
#include <concepts>
#include <cstddef>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <nigh/fork_join.hpp>
#include <nigh/parallel_for.hpp>
#include <nigh/parallel_reduce.hpp>
#include <nigh/parallel_sort.hpp>
#include <optional>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh::detail::pstl {

// A loop's end before its time: any brick of the loop may ask for it, other threads see it soon.
class early_end {
 public:
  bool asked() const noexcept { return asked_.load(std::memory_order_relaxed); }

  // Has the innermost loop that this thread works for end early; nothing outside of one.
  static void ask() noexcept {
    if (innermost != nullptr) innermost->asked_.store(true, std::memory_order_relaxed);
  }

  // Some address that no other thread has.
  static void const* this_thread() noexcept { return &innermost; }

  // While a brick runs, its loop is the innermost one of this thread.
  class brick {
   public:
    explicit brick(early_end& of) noexcept : outer_(std::exchange(innermost, &of)) {}
    ~brick() { innermost = outer_; }
    brick(brick&&) = delete;
    brick& operator=(brick&&) = delete;

   private:
    early_end* outer_;
  };

 private:
  static constinit inline thread_local early_end* innermost = nullptr;

  std::atomic<bool> asked_{false};
};

template <class Index>
Index advanced(Index first, std::size_t by) {
  if constexpr (std::integral<Index>)
    return static_cast<Index>(first + static_cast<Index>(by));
  else
    return first + static_cast<typename std::iterator_traits<Index>::difference_type>(by);
}

// A function object that several threads call at once, through const: one whose call is not const
// is copied for each call.
template <class F>
class shared_function {
 public:
  explicit shared_function(F const& f) : f_(f) {}

  template <class... A>
  decltype(auto) operator()(A&&... arguments) const {
    if constexpr (std::is_invocable_v<F const&, A...>) {
      return f_(std::forward<A>(arguments)...);
    } else {
      F own = f_;
      return own(std::forward<A>(arguments)...);
    }
  }

 private:
  F f_;
};

// More blocks than workers, so that a thread that is held up holds up little.
inline constexpr std::size_t pieces_per_worker = 64;
// Subtrees of a recursion and blocks of a scan: each is paid for by a task or a value.
inline constexpr std::size_t parts_per_worker = 8;

inline std::size_t share_of(std::size_t count, std::size_t parts) {
  return std::max<std::size_t>(1, count / (parts * workers_for_loops(nullptr)));
}

// brick(i, j) for pieces that together are [first, last).
template <class Index, class Brick>
void for_each_piece(Index first, Index last, Brick const& brick) {
  auto const count = static_cast<std::size_t>(last - first);
  if (count == 0) return;
  early_end end;
  each_piece({0, count, true}, {}, [&](index_range piece) {
    if (end.asked()) return loop_flow::leave;
    early_end::brick const here(end);
    brick(advanced(first, piece.begin), advanced(first, piece.end));
    return loop_flow::go_on;
  });
}

// Folds the range from left to right: brick(i, j, value) returns the value with that of [i, j)
// added, join(left, right) joins those of two neighbouring ranges. Associative, not commutative.
//
// A right half that the thread of its left half begins afterwards goes on from the left one's
// value: only halves of two threads are joined. `ended_by` names a thread to itself alone, so that
// no other one reads what the left half wrote before fork_join() has returned.
template <class Value, class Brick, class Join>
class ordered_fold {
 public:
  ordered_fold(Value const& identity, Brick const& brick, Join const& join, std::size_t leaf)
      : identity_(identity), brick_(brick), join_(join), leaf_(leaf) {}

  template <class Index>
  Value operator()(Index first, Index last, Value value) {
    auto const count = static_cast<std::size_t>(last - first);
    if (count <= leaf_) {
      if (end_.asked()) return value;
      early_end::brick const here(end_);
      return brick_(first, last, std::move(value));
    }
    Index const middle = advanced(first, count / 2);
    std::optional<Value> left, right;
    std::atomic<void const*> ended_by{nullptr};
    bool joined = true;
    nigh::fork_join(
        [&] {
          left.emplace((*this)(first, middle, std::move(value)));
          ended_by.store(early_end::this_thread(), std::memory_order_relaxed);
        },
        [&] {
          joined = ended_by.load(std::memory_order_relaxed) != early_end::this_thread();
          right.emplace((*this)(middle, last, joined ? identity_ : std::move(*left)));
        });
    return joined ? join_(std::move(*left), std::move(*right)) : std::move(*right);
  }

 private:
  Value const& identity_;
  Brick const& brick_;
  Join const& join_;
  std::size_t leaf_;
  early_end end_;
};

template <class Value, class Index, class Brick, class Join>
Value reduce_in_order(Index first, Index last, Value const& identity, Brick const& brick,
                      Join const& join) {
  auto const count = static_cast<std::size_t>(last - first);
  if (count == 0) return identity;
  ordered_fold<Value, Brick, Join> fold(identity, brick, join, share_of(count, parts_per_worker));
  return fold(first, last, identity);
}

// The blocks that [0, count) is cut into; each has at least two elements if count >= 2.
class blocks {
 public:
  blocks(std::size_t count, std::size_t parts)
      : count_(count),
        number_(std::clamp<std::size_t>(parts, 1, std::max<std::size_t>(1, count / 2))) {}
  std::size_t number() const noexcept { return number_; }
  std::size_t begin(std::size_t block) const noexcept {
    return count_ / number_ * block + std::min(block, count_ % number_);
  }
  std::size_t end(std::size_t block) const noexcept { return begin(block + 1); }

 private:
  std::size_t count_;
  std::size_t number_;
};

// Folds in any order: unary(i) is the value of one element, which only `join` makes a Value;
// brick(i, j, value) adds [i, j). Associative and commutative.
template <class Index, class Unary, class Value, class Join, class Brick>
Value transform_reduce(Index first, Index last, Unary const& unary, Value init, Join const& join,
                       Brick const& brick) {
  auto const count = static_cast<std::size_t>(last - first);
  blocks const parts(count, pieces_per_worker * workers_for_loops(nullptr));
  if (parts.number() == 1) return brick(first, last, std::move(init));

  struct work {
    Index first;
    blocks const& parts;
    Unary const& unary;
    Join const& join;
    Brick const& brick;
    shared_total<Value, Join> total;

    static void run(void* self, loop_part& part) {
      auto& me = *static_cast<work*>(self);
      std::optional<Value> mine;
      for (index_range piece; next_piece(part, piece);) {
        Index from = advanced(me.first, me.parts.begin(piece.begin));
        Index const to = advanced(me.first, me.parts.begin(piece.end));
        if (!mine) {
          mine.emplace(me.join(me.unary(from), me.unary(advanced(from, 1))));
          from = advanced(from, 2);
          if (from == to) continue;
        }
        mine.emplace(me.brick(from, to, std::move(*mine)));
      }
      if (mine) me.total.add(std::move(*mine));
    }
  } all{first, parts, unary, join, brick, shared_total<Value, Join>(join)};
  loop_options const options;
  run_loop({0, parts.number()}, options, {&all, &work::run});
  return join(std::move(init), std::move(*all.total.total()));
}

// f(block) for the blocks [first, last), each by the worker that has it in other such loops, too.
template <class F>
void for_each_block(std::size_t first, std::size_t last, F const& f) {
  nigh::parallel_for(first, last, [&](std::size_t block) { f(block); });
}

// Scans [0, count) in blocks, twice: reduce(begin, length) -> value of each, then
// scan(begin, length, value of all before it). `apex` gets the whole value in between. reduce and
// scan are called once for each block, and for the same blocks.
template <class Index, class Value, class Reduce, class Join, class Scan, class Apex>
void strict_scan(Index count, Value initial, Reduce const& reduce, Join const& join,
                 Scan const& scan, Apex const& apex) {
  auto const n = static_cast<std::size_t>(count);
  blocks const parts(n, parts_per_worker * workers_for_loops(nullptr));
  if (parts.number() == 1) {
    Value whole = n == 0 ? initial : join(initial, reduce(Index{0}, count));
    apex(whole);
    if (n != 0) scan(Index{0}, count, initial);
    return;
  }
  auto const begin = [&](std::size_t b) { return static_cast<Index>(parts.begin(b)); };
  auto const length = [&](std::size_t b) {
    return static_cast<Index>(parts.end(b) - parts.begin(b));
  };
  std::vector<std::optional<Value>> before(parts.number());
  for_each_block(0, parts.number(),
                 [&](std::size_t b) { before[b].emplace(reduce(begin(b), length(b))); });
  Value whole = std::move(initial);
  for (auto& value : before) {
    Value next = join(whole, *value);
    value.emplace(std::move(whole));
    whole = std::move(next);
  }
  apex(whole);
  for_each_block(0, parts.number(), [&](std::size_t b) { scan(begin(b), length(b), *before[b]); });
}

// Scans [0, count) and returns the whole value. reduce(i, j, value) adds [i, j) to a value,
// scan(i, j, value) writes the results and returns the value after them. The first block needs no
// value of others, and nobody needs that of the last: each is gone over once, at the same time as
// others are summed up or scanned.
template <class Index, class Unary, class Value, class Join, class Reduce, class Scan>
Value transform_scan(Index count, Unary const& unary, Value init, Join const& join,
                     Reduce const& reduce, Scan const& scan) {
  auto const n = static_cast<std::size_t>(count);
  auto const workers = workers_for_loops(nullptr);
  blocks const parts(n, workers == 1 ? 1 : parts_per_worker * workers);
  if (parts.number() == 1) return scan(Index{0}, count, std::move(init));

  auto const begin = [&](std::size_t b) { return static_cast<Index>(parts.begin(b)); };
  auto const last = parts.number() - 1;
  std::vector<std::optional<Value>> before(parts.number());  // [b]: first the value of block b - 1
  for_each_block(0, last, [&](std::size_t b) {
    if (b == 0) {
      before[1].emplace(scan(Index{0}, begin(1), init));
    } else {
      Value value(unary(begin(b)));
      before[b + 1].emplace(reduce(begin(b) + 1, begin(b + 1), std::move(value)));
    }
  });
  for (std::size_t b = 2; b <= last; ++b) before[b].emplace(join(*before[b - 1], *before[b]));
  std::optional<Value> whole;
  for_each_block(1, parts.number(), [&](std::size_t b) {
    Value after = scan(begin(b), begin(b + 1), *before[b]);
    if (b == last) whole.emplace(std::move(after));
  });
  return std::move(*whole);
}

// Elements that nigh's sorts can keep in a buffer: objects, moved without a throw, or copied.
template <class Iterator>
concept sortable = std::random_access_iterator<Iterator> &&
                   std::is_lvalue_reference_v<std::iter_reference_t<Iterator>> &&
                   (std::is_nothrow_move_constructible_v<std::iter_value_t<Iterator>> ||
                    std::is_copy_constructible_v<std::iter_value_t<Iterator>>);

// A comparison as nigh's sorts take it: const, and by a name they know where it has one.
template <class Iterator, class Compare>
decltype(auto) order_of(Compare const& compare) {
  using value = std::iter_value_t<Iterator>;
  if constexpr (std::is_same_v<Compare, std::less<value>>)
    return std::less<>();
  else if constexpr (std::predicate<Compare const&, value const&, value const&>)
    return (compare);
  else
    return shared_function<Compare>(compare);
}

// Sorts; equal elements may change their order.
template <sortable Iterator, class Compare>
void sort(Iterator first, Iterator last, Compare const& compare) {
  nigh::parallel_sort(first, last, order_of<Iterator>(compare));
}
template <sortable Iterator, class Compare>
void stable_sort(Iterator first, Iterator last, Compare const& compare) {
  nigh::parallel_stable_sort(first, last, order_of<Iterator>(compare));
}

inline constexpr std::size_t least_selected = 4096;  // a part of less is one thread's

// Of [first, middle) and what follows, each of `want` elements or more, whose first `want` are in
// order, makes one whose first `want` are: the least of both.
template <class Iterator, class Compare>
void join_selected(Iterator first, Iterator middle, std::size_t want, Compare const& less) {
  // The number of elements that come from the right, where both sides agree.
  std::size_t taken = 0, most = want;
  while (taken < most) {
    auto const half = taken + (most - taken) / 2;
    if (less(*advanced(middle, half), *advanced(first, want - half - 1)))
      taken = half + 1;
    else
      most = half;
  }
  Iterator const kept_end = advanced(first, want - taken);
  std::swap_ranges(kept_end, advanced(first, want), middle);
  std::inplace_merge(first, kept_end, advanced(first, want), less);
}

template <class Iterator, class Compare, class LeafSort>
void select_sorted(Iterator first, Iterator last, Compare const& compare, LeafSort const& leaf_sort,
                   std::size_t want, std::size_t leaf) {
  auto const count = static_cast<std::size_t>(last - first);
  if (count <= leaf) {
    auto sort = leaf_sort;
    return sort(first, last, compare);
  }
  Iterator const middle = advanced(first, count / 2);
  nigh::fork_join([&] { select_sorted(first, middle, compare, leaf_sort, want, leaf); },
            [&] { select_sorted(middle, last, compare, leaf_sort, want, leaf); });
  join_selected(first, middle, want, order_of<Iterator>(compare));
}

// The first `want` elements in order, all others behind them. leaf_sort(i, j, compare) is called
// once for each piece, and may be what makes its elements; it brings its first `want` in order.
template <sortable Iterator, class Compare, class LeafSort>
void partial_sort(Iterator first, Iterator last, Compare const& compare, LeafSort const& leaf_sort,
                  std::size_t want) {
  auto const count = static_cast<std::size_t>(last - first);
  auto const leaf = std::max(least_selected, share_of(count, parts_per_worker));
  if (count <= leaf) {
    auto sort = leaf_sort;
    sort(first, last, compare);
  } else if (want <= leaf / 4) {
    select_sorted(first, last, compare, leaf_sort, want, leaf);
  } else {
    // As good as all of them: have the pieces made, which for short ones takes no time to sort.
    for_each_piece(first, last, [&](Iterator i, Iterator j) {
      auto sort = leaf_sort;
      for (; j - i > 8; i += 8) sort(i, i + 8, compare);
      sort(i, j, compare);
    });
    pstl::sort(first, last, compare);
  }
}

inline constexpr std::size_t least_merged_piece = 2048;

// leaf_merge(x, x_end, y, y_end, out, compare) for pieces that together merge both to `out`; of
// equal elements, those of x come first.
template <class X, class Y, class Out, class Compare, class LeafMerge>
void merge(X x, X x_end, Y y, Y y_end, Out out, Compare const& compare, LeafMerge const& leaf_merge,
           std::size_t leaf) {
  auto const nx = x_end - x;
  auto const ny = y_end - y;
  if (static_cast<std::size_t>(nx) + static_cast<std::size_t>(ny) <= leaf) {
    auto merge_piece = leaf_merge;
    merge_piece(x, x_end, y, y_end, out, compare);
    return;
  }
  X const x_middle = nx < ny ? std::upper_bound(x, x_end, y[ny / 2], compare) : x + nx / 2;
  Y const y_middle = nx < ny ? y + ny / 2 : std::lower_bound(y, y_end, x[nx / 2], compare);
  Out const out_middle = out + ((x_middle - x) + (y_middle - y));
  nigh::fork_join([&] { pstl::merge(x, x_middle, y, y_middle, out, compare, leaf_merge, leaf); },
            [&] {
              pstl::merge(x_middle, x_end, y_middle, y_end, out_middle, compare, leaf_merge, leaf);
            });
}

template <class X, class Y, class Out, class Compare, class LeafMerge>
void merge(X x, X x_end, Y y, Y y_end, Out out, Compare const& compare,
           LeafMerge const& leaf_merge) {
  auto const count = static_cast<std::size_t>(x_end - x) + static_cast<std::size_t>(y_end - y);
  auto const leaf = std::max(least_merged_piece, share_of(count, parts_per_worker));
  pstl::merge(x, x_end, y, y_end, out, compare, leaf_merge, leaf);
}

// Calls f. As the standard wants it, only std::bad_alloc leaves a parallel algorithm.
template <class F>
void ends_by_terminate(F const& f) {
  try {
    f();
  } catch (std::bad_alloc const&) {
    throw;
  } catch (...) {
    std::terminate();
  }
}

// Memory for so many elements, which are made and destroyed by others. std::bad_alloc.
template <class T>
class buffer {
 public:
  explicit buffer(std::size_t count) : count_(count), data_(std::allocator<T>().allocate(count)) {}
  ~buffer() { std::allocator<T>().deallocate(data_, count_); }
  buffer(buffer&&) = delete;
  buffer& operator=(buffer&&) = delete;
  explicit operator bool() const noexcept { return data_ != nullptr; }
  T* get() const noexcept { return data_; }

 private:
  std::size_t count_;
  T* data_;
};

}  // namespace nigh::detail::pstl
