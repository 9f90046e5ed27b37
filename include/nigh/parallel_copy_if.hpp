// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_copy_if, parallel_filter, parallel_unique_copy: some of the elements, elsewhere.
// parallel_remove_if, parallel_unique: some of the elements, in place.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <cstddef>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/sequence.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/parallel_for.hpp>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {
namespace detail {

// Which elements are kept: a byte for each, and for each block how many before it. The first loop
// asks each element once; a second one moves those that are kept to where they belong.
class kept_elements {
 public:
  static constexpr std::size_t stretch = 64;

  // keep(i) for all of the range, as offsets.
  template <class Keep>
  kept_elements(loop_range range, Keep const& keep, loop_options const& how)
      : range_(range), options_(how) {
    auto const count = range.count;
    if (count == 0) return;
    auto const few = 16 * workers_for_loops(how.where);
    auto const most = std::max<std::size_t>(1024, few);
    block_ = std::max({how.grain, count / most + (count % most != 0), std::min<std::size_t>(stretch, count / few)});
    options_.grain = block_;
    blocks_ = count / block_ + (count % block_ != 0);
    flags_.reset(new unsigned char[count]);
    before_.reset(new std::size_t[blocks_ + 1]());
    each_block([&](std::size_t b, index_range r) {
      body_at_hand<Keep> keeps_it = keep;  // no store to a flag can reach it
      std::size_t kept = 0;
      auto* const flags = flags_.get();
      auto i = r.begin;
      if constexpr (Keep::first_is_kept)
        if (i == 0) {
          flags[i++] = 1;
          ++kept;
        }
      for (; r.end - i >= stretch; i += stretch) {  // of a fixed length, so that it is vectorised
        for (std::size_t k = 0; k < stretch; ++k) flags[i + k] = keeps_it(i + k) ? 1 : 0;
        unsigned here = 0;
        for (std::size_t k = 0; k < stretch; ++k) here += flags[i + k];
        kept += here;
      }
      for (; i < r.end; ++i) kept += flags[i] = keeps_it(i) ? 1 : 0;
      before_[b + 1] = kept;
    });
    for (std::size_t b = 0; b < blocks_; ++b) before_[b + 1] += before_[b];
  }

  std::size_t kept() const noexcept { return blocks_ == 0 ? 0 : before_[blocks_]; }
  // Blocks of which everything is kept, at the front, and where the first other one begins.
  std::size_t blocks_in_place() const noexcept {
    std::size_t b = 0;
    while (b < blocks_ && before_[b + 1] == end_of(b)) ++b;
    return b;
  }
  std::size_t begin_of(std::size_t b) const noexcept { return b * block_; }
  bool keeps(std::size_t i) const noexcept { return flags_[i] != 0; }

  // f(elements of a block, number of the first that is kept among all that are, how many are).
  template <class F>
  void each_kept(std::size_t from_block, F const& f, bool may_stop = true) const {
    each_block(
        [&](std::size_t b, index_range r) {
          auto const kept = before_[b + 1] - before_[b];
          if (b >= from_block && kept > 0) f(r, before_[b], kept);
        },
        may_stop);
  }
  loop_options const& options() const noexcept { return options_; }

 private:
  std::size_t end_of(std::size_t b) const noexcept {
    return std::min((b + 1) * block_, range_.count);
  }

  template <class F>
  void each_block(F const& f, bool may_stop = true) const {
    auto options = options_;
    if (!may_stop) options.stop = {};
    each_piece(range_, options, [&](index_range r) {
      for (auto at = r.begin; at < r.end; at += block_)
        f(at / block_, index_range{at, std::min(at + block_, r.end)});
    });
  }

  loop_range range_;
  loop_options options_;
  std::size_t block_ = 1;
  std::size_t blocks_ = 0;
  owned<unsigned char[]> flags_;
  owned<std::size_t[]> before_;
};

template <class In, class Out>
inline constexpr bool copies_without_branch = false;
template <class A, class B>
inline constexpr bool copies_without_branch<A*, B*> =
    std::is_same_v<std::remove_const_t<A>, B> && std::is_trivially_copyable_v<B> && sizeof(B) <= 32;

// To out[to, to + count).
template <class In, class Out>
void copy_kept(kept_elements const& kept, In const& in, index_range r, Out const& out,
               std::size_t to, std::size_t count) {
  auto from = in.at(r.begin);
  auto at = out.at(to);
  auto const end = out.at(to + count);
  if (count == r.size()) {
    for (; at != end; ++at) {
      *at = *from;
      ++from;
    }
  } else if constexpr (copies_without_branch<decltype(in.first), decltype(out.first)>) {
    // The next element that is kept overwrites one that is not; after the last, nothing is written.
    for (auto i = r.begin; at != end; ++i) {
      *at = *from;
      at += kept.keeps(i) ? 1 : 0;
      ++from;
    }
  } else {
    for (auto i = r.begin; at != end; ++i) {
      if (kept.keeps(i)) {
        *at = *from;
        ++at;
      }
      ++from;
    }
  }
}

template <class In, class Out>
std::size_t copy_out(In const& in, kept_elements const& kept, Out&& out) {
  if (auto const room = output_room(out); room.is_known && room.count < kept.kept())
    refuse_lengths("a copy", kept.kept(), "into", room.count);
  auto const to = output_sequence(out, kept.kept());
  kept.each_kept(0, [&](index_range r, std::size_t before, std::size_t count) {
    copy_kept(kept, in, r, to, before, count);
  });
  return kept.kept();
}

// Whether an element is kept: by a predicate or its negation, or as the first of its equals.
template <class In, class Predicate>
struct keeps_by {
  body_at_hand<Predicate> predicate;
  In in;
  bool wanted;

  static constexpr bool first_is_kept = false;
  bool operator()(std::size_t i) const { return static_cast<bool>(predicate(*in.at(i))) == wanted; }
};
template <class In, class Equal>
struct keeps_first {
  body_at_hand<Equal> equal;
  In in;

  static constexpr bool first_is_kept = true;  // not asked about
  bool operator()(std::size_t i) const {
    return !static_cast<bool>(equal(*in.at(i - 1), *in.at(i)));
  }
};

template <class In, class Predicate>
kept_elements kept_by(In const& in, Predicate const& predicate, bool wanted,
                      loop_options const& options) {
  static_assert(std::is_invocable_r_v<bool, Predicate const&, typename In::reference>,
                "a predicate takes an element or index and returns bool, and is called as const");
  return {in.extent(), keeps_by<In, Predicate>{predicate, in, wanted}, options};
}
template <class In, class Equal>
kept_elements kept_as_first(In const& in, Equal const& equal, loop_options const& options) {
  static_assert(
      std::is_invocable_r_v<bool, Equal const&, typename In::reference, typename In::reference>,
      "an equivalence takes two elements or indices and returns bool, and is called as const");
  return {in.extent(), keeps_first<In, Equal>{equal, in}, options};
}

// Uninitialised room for elements that are moved there, and moved back.
template <class T>
class element_buffer {
 public:
  explicit element_buffer(std::size_t count)
      : memory_(std::allocator<T>().allocate(count)), count_(count) {}
  ~element_buffer() { std::allocator<T>().deallocate(memory_, count_); }
  element_buffer(element_buffer const&) = delete;
  element_buffer& operator=(element_buffer const&) = delete;
  T* data() noexcept { return memory_; }

 private:
  T* memory_;
  std::size_t count_;
};

// Moves the elements that are kept to the front, the others are valid but unspecified then; or when
// the loop that asked for them was stopped, does nothing. Returns how many there are.
template <class In>
std::size_t move_to_front(In const& in, kept_elements const& kept) {
  using value = typename In::value_type;
  check_writable<In>();
  auto const first_block = kept.blocks_in_place();
  auto const in_place = std::min(kept.begin_of(first_block), in.count);
  if (in_place == in.count || kept.options().stop.stop_requested()) return in.count;
  if constexpr (std::is_nothrow_move_constructible_v<value> &&
                std::is_nothrow_move_assignable_v<value>) {
    element_buffer<value> buffer(kept.kept() - in_place);
    auto* const room = buffer.data();
    kept.each_kept(
        first_block,
        [&](index_range r, std::size_t before, std::size_t count) {
          auto const to = before - in_place;
          if constexpr (copies_without_branch<decltype(in.first), value*>) {
            copy_kept(kept, in, r, sequence<value*>{room, to + count}, to, count);
          } else {
            auto* at = room + to;
            for (auto i = r.begin; i < r.end; ++i)
              if (kept.keeps(i)) std::construct_at(at++, std::ranges::iter_move(in.at(i)));
          }
        },
        false);
    auto options = kept.options();
    options.stop = {};
    nigh::parallel_for(
        in_place, kept.kept(),
        [&](index_range r) {
          for (auto i = r.begin; i < r.end; ++i) {
            *in.at(i) = std::move(room[i - in_place]);
            std::destroy_at(room + (i - in_place));
          }
        },
        options);
    return kept.kept();
  } else {  // a move that throws would leave elements in two places: one thread
    auto to = in_place;
    for (auto i = in_place; i < in.count; ++i)
      if (kept.keeps(i)) {
        if (i != to) *in.at(to) = std::ranges::iter_move(in.at(i));
        ++to;
      }
    return to;
  }
}

template <class In, class Keep>
auto filtered(In const& in, Keep const& kept) {
  using value = typename In::value_type;
  static_assert(!std::is_same_v<value, bool>,
                "parallel_filter gives no std::vector<bool>, whose elements share bytes");
  static_assert(std::is_default_constructible_v<value>,
                "parallel_filter fills a std::vector that is made first, so its elements have a "
                "default constructor: else use parallel_copy_if");
  std::vector<value> out(kept.kept());
  copy_out(in, kept, out);
  return out;
}

}  // namespace detail

// For all algorithms here: what they loop over, options, functions and exceptions are as in
// parallel_transform.hpp. A function is called once for each element (an equivalence once for each
// pair of neighbours), in a first loop; a second loop copies or moves. Elements keep their order,
// so the result does not depend on the threads. Memory: a byte for each element, and eight for each
// of at most 1024 blocks, or 16 for each worker. std::bad_alloc, and exceptions of functions, come
// before anything is written. Types of the same trivially copyable kind up to 32 bytes are copied
// without branches. With options.grain, blocks have at least so many elements.

// Copies the elements that the predicate holds for, as std::copy_if. `out` is a random-access
// iterator, or a range with room for all of them (std::invalid_argument), not within the input.
// Returns the end of the output. Stopped, it leaves out elements.
template <class R, class Out, detail::function Predicate, detail::loop_choice How = loop_options>
  requires detail::iterable_before<R, Out>
auto parallel_copy_if(R&& range, Out&& out, Predicate const& predicate, How const& how = {}) {
  auto const in = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  auto const count = detail::copy_out(in, detail::kept_by(in, predicate, true, options), out);
  return detail::output_end(out, count);
}
template <class First, class Last, class Out, detail::function Predicate,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Predicate>)
auto parallel_copy_if(First first, Last last, Out&& out, Predicate const& predicate,
                      How const& how = {}) {
  auto const in = detail::sequence_of(first, last);
  auto const options = detail::options_of(how);
  auto const count = detail::copy_out(in, detail::kept_by(in, predicate, true, options), out);
  return detail::output_end(out, count);
}

// The same into a vector of its own, whose memory the calling thread makes and zeroes: "filter" or
// "pack" elsewhere. Of integers, those that the predicate holds for.
template <detail::iterable R, detail::function Predicate, detail::loop_choice How = loop_options>
auto parallel_filter(R&& range, Predicate const& predicate, How const& how = {}) {
  auto const in = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  return detail::filtered(in, detail::kept_by(in, predicate, true, options));
}
template <class First, class Last, detail::function Predicate,
          detail::loop_choice How = loop_options>
  requires detail::bounds<First, Last>
auto parallel_filter(First first, Last last, Predicate const& predicate, How const& how = {}) {
  auto const in = detail::sequence_of(first, last);
  return detail::filtered(in, detail::kept_by(in, predicate, true, detail::options_of(how)));
}

// Copies the first of each run of equal elements, as std::unique_copy; `equal` is an equivalence.
template <class R, class Out, detail::function Equal = std::equal_to<>,
          detail::loop_choice How = loop_options>
  requires(detail::iterable_before<R, Out> && !detail::loop_choice<Equal>)
auto parallel_unique_copy(R&& range, Out&& out, Equal const& equal = {}, How const& how = {}) {
  auto const in = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  auto const count = detail::copy_out(in, detail::kept_as_first(in, equal, options), out);
  return detail::output_end(out, count);
}
template <class First, class Last, class Out, detail::function Equal = std::equal_to<>,
          detail::loop_choice How = loop_options>
  requires(detail::bounds<First, Last> && !detail::loop_choice<Equal>)
auto parallel_unique_copy(First first, Last last, Out&& out, Equal const& equal = {},
                          How const& how = {}) {
  auto const in = detail::sequence_of(first, last);
  auto const options = detail::options_of(how);
  auto const count = detail::copy_out(in, detail::kept_as_first(in, equal, options), out);
  return detail::output_end(out, count);
}

// In place, as std::unique and std::remove_if: moves the first of each run of equal elements, or
// those that the predicate does not hold for, to the front, and returns their end; elements from
// there on are valid but unspecified. Elements may be of a type that can only be moved. Memory in
// addition: room for those elements that are moved; they pass through it, since threads cannot move
// them to each other's places at once. A type whose move may throw is moved by one thread. Stopped
// before it has moved anything, it does nothing and returns `last`; later, it goes on.
template <detail::iterable R, detail::function Equal = std::equal_to<>,
          detail::loop_choice How = loop_options>
  requires(!detail::loop_choice<Equal>)
auto parallel_unique(R&& range, Equal const& equal = {}, How const& how = {}) {
  static_assert(detail::outlives_call<R>, "the place in a temporary container dangles");
  auto const in = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  auto const count = detail::move_to_front(in, detail::kept_as_first(in, equal, options));
  return detail::place_of(std::begin(range), std::end(range), count);
}
template <std::input_iterator First, std::sentinel_for<First> Last,
          detail::function Equal = std::equal_to<>, detail::loop_choice How = loop_options>
  requires(!detail::loop_choice<Equal>)
auto parallel_unique(First first, Last last, Equal const& equal = {}, How const& how = {}) {
  auto const in = detail::sequence_of(first, last);
  auto const options = detail::options_of(how);
  auto const count = detail::move_to_front(in, detail::kept_as_first(in, equal, options));
  return detail::place_of(first, last, count);
}

template <detail::iterable R, detail::function Predicate, detail::loop_choice How = loop_options>
auto parallel_remove_if(R&& range, Predicate const& predicate, How const& how = {}) {
  static_assert(detail::outlives_call<R>, "the place in a temporary container dangles");
  auto const in = detail::sequence_of(range);
  auto const options = detail::options_near<loop_options>(range, how);
  auto const count = detail::move_to_front(in, detail::kept_by(in, predicate, false, options));
  return detail::place_of(std::begin(range), std::end(range), count);
}
template <std::input_iterator First, std::sentinel_for<First> Last, detail::function Predicate,
          detail::loop_choice How = loop_options>
auto parallel_remove_if(First first, Last last, Predicate const& predicate, How const& how = {}) {
  auto const in = detail::sequence_of(first, last);
  auto const options = detail::options_of(how);
  auto const count = detail::move_to_front(in, detail::kept_by(in, predicate, false, options));
  return detail::place_of(first, last, count);
}

}  // namespace nigh
