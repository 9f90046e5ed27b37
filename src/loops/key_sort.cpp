// SPDX-License-Identifier: Apache-2.0
// Sorts of numbers by their bits: a number becomes a key, an unsigned integer of the same order.
//
//   many keys    one pass counts and one moves them to buckets whose borders a sample gives; each
//                bucket fits in a core's second-level cache, together with its place in the buffer
//   a bucket     least-significant-digit radix sort by the leading bits that tell most keys apart,
//                then the few neighbours that those bits do not tell apart
//   few keys, or no memory    quicksort (nigh/detail/quick_sort.hpp)
//   one or two bytes          counting
//
// Sources: the sampled buckets are of Sanders and Winkel's super scalar sample sort (ESA'04), whose
// search tree is a table here, since keys are numbers; leading bits first, then a check of
// neighbours, is MSB radix sort as in Ska sort and spreadsort.
//
// O(n log n) at worst: a bucket that stays large is divided again, at most `most_levels` times, and
// then left to quicksort; so are neighbours of which there are many.
//
// This file accesses floating-point numbers as integers: it is compiled with -fno-strict-aliasing.

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <new>
#include <nigh/detail/in_place_sort.hpp>
#include <nigh/detail/key_sort.hpp>
#include <nigh/detail/quick_sort.hpp>
#include <nigh/parallel_for.hpp>
#include <optional>
#include <type_traits>
#include <utility>

#include "memory/record.hpp"

namespace nigh {
namespace {

using detail::key_kind;
using detail::key_order;

// Numbers and their keys. Negative floating-point numbers fall when their bits rise; a greater
// zero, infinity or NaN has greater bits, so all of them have a place in the order.
template <class Key>
class Mapping {
  using Signed = std::make_signed_t<Key>;
  static constexpr int last_bit = 8 * sizeof(Key) - 1;

 public:
  explicit constexpr Mapping(key_order order)
      : negated_(order.kind == key_kind::floating ? static_cast<Key>(~top) : Key{0}),
        flipped_(static_cast<Key>((order.kind == key_kind::natural ? Key{0} : top) ^
                                  (order.falls ? ~Key{0} : Key{0}))) {}

  constexpr Key key(Key bits) const { return static_cast<Key>(negate(bits) ^ flipped_); }
  constexpr Key bits(Key key) const { return negate(static_cast<Key>(key ^ flipped_)); }

 private:
  static constexpr Key top = static_cast<Key>(Key{1} << last_bit);
  constexpr Key negate(Key bits) const {  // its own inverse: the sign stays
    return static_cast<Key>(bits ^
                            (static_cast<Key>(static_cast<Signed>(bits) >> last_bit) & negated_));
  }

  Key negated_, flipped_;
};

constexpr std::size_t most_buckets = 256;
constexpr std::size_t sampled = 16;  // for each bucket
constexpr int digit_bits = 11;
constexpr std::size_t digits = std::size_t{1} << digit_bits;
constexpr int most_levels = 8;
constexpr std::size_t least_by_radix = 1024;     // quicksort is faster for fewer
constexpr std::size_t least_in_buckets = 16384;  // at the first level
constexpr std::size_t bucket_bytes = 256 << 10;  // twice that lies in the cache
constexpr std::size_t chunk_bytes = 256 << 10;   // counted or moved by one thread in one go

// Which bucket a key belongs to: its distance from the sample's least, in units of a power of two,
// and a table.
template <class Key>
class Borders {
 public:
  // Sorts the sample.
  void set(Key* sample, std::size_t count, std::size_t buckets) {
    detail::quick_sort(sample, sample + count, std::less<>());
    auto const least = sample[0], greatest = sample[count - 1];
    low_ = least > 0 ? static_cast<Key>(least - 1) : least;
    high_ = greatest < static_cast<Key>(~Key{0}) ? static_cast<Key>(greatest + 1) : greatest;
    auto const range = static_cast<Key>(high_ - low_);
    shift_ = std::max(0, static_cast<int>(std::bit_width(range)) - digit_bits);
    std::array<std::uint16_t, digits> samples{};
    for (std::size_t i = 0; i < count; ++i) ++samples[digit(sample[i])];
    auto const full = count / buckets + 1;
    auto const last = digit(high_);
    std::size_t in_bucket = 0, bucket = 0;
    for (std::size_t d = 0; d <= last; ++d) {
      if (in_bucket + samples[d] > full && d > 0) {
        ++bucket;
        in_bucket = 0;
      }
      in_bucket += samples[d];
      bucket_of_[d] = static_cast<std::uint16_t>(bucket);
    }
    buckets_ = bucket + 1;
  }

  std::size_t buckets() const { return buckets_; }
  std::size_t operator()(Key key) const { return bucket_of_[digit(key)]; }

 private:
  std::size_t digit(Key key) const {
    auto const within = key < low_ ? low_ : key > high_ ? high_ : key;
    return static_cast<std::size_t>(static_cast<Key>(within - low_) >> shift_);
  }

  Key low_ = 0, high_ = 0;
  int shift_ = 0;
  std::size_t buckets_ = 0;
  std::array<std::uint16_t, digits> bucket_of_{};
};
// A new bucket begins when the one before is full or would be: two of them hold more than `full`
// samples, so there are at most twice as many as asked for, and one more.
constexpr std::size_t most_borders = 2 * most_buckets + 2;

template <class Key>
class KeySort {
 public:
  KeySort(Key* data, std::size_t n, key_order order, detail::placed_block const* placed)
      : data_(data), n_(n), mapping_(order), placed_(placed) {
    if (placed_ != nullptr)
      if (auto map = detail::map_of(*placed_, sizeof(Key)))
        near_.emplace(schedule_kind::local, 1, std::move(map));
  }

  void sort() {
    if (n_ < 2 || is_one_run()) return;
    if constexpr (sizeof(Key) <= 2)
      if (n_ >= std::size_t{4} << (8 * sizeof(Key)))
        if (sort_by_counting()) return;
    if (n_ < least_by_radix) return sort_by_comparisons({data_, data_, n_, false});
    Buffer buffer(*this);
    if (buffer.data() == nullptr) return sort_without_memory();
    sort_part({data_, buffer.data(), n_, false}, most_levels);
  }

 private:
  // Some elements' place in the data and in the buffer, and where they are now.
  struct Part {
    Key* from;  // bits, or keys if `mapped`; keys in the buffer, always
    Key* other;
    std::size_t count;
    bool mapped;
  };

  // As large as the data, and placed as they are. No data: there is no memory.
  class Buffer {
   public:
    explicit Buffer(KeySort const& sort) {
      if (sort.near_) {
        try {
          placed_ = detail::placed_like(*sort.placed_, sizeof(Key));
          data_ = reinterpret_cast<Key*>(placed_.data());
        } catch (std::bad_alloc const&) {
        }
      } else {
        plain_.reset(new (std::nothrow) Key[sort.n_]);
        data_ = plain_.get();
      }
    }
    Key* data() const { return data_; }

   private:
    detail::placed_block placed_;
    std::unique_ptr<Key[]> plain_;
    Key* data_ = nullptr;
  };

  // Calls f(first, last) for pieces of [0, n), which begin at multiples of `grain`.
  template <class F>
  void each(std::size_t n, std::size_t grain, F const& f) const {
    loop_options options;
    options.grain = grain;
    auto const piece = [&](index_range r) { f(r.begin, r.end); };
    if (n == n_ && near_) try {
        options.how = near_;
        return parallel_for(std::size_t{0}, n, piece, options);
      } catch (std::bad_alloc const&) {  // before the loop began
        options.how.reset();
      }
    parallel_for(std::size_t{0}, n, piece, options);
  }

  bool is_one_run() {
    if (are_in_order<false>()) return true;
    if (!are_in_order<true>()) return false;
    if (n_ < least_by_radix) {
      std::reverse(data_, data_ + n_);
      return true;
    }
    each(n_ / 2, chunk_bytes / sizeof(Key), [this](std::size_t first, std::size_t last) {
      std::swap_ranges(data_ + first, data_ + last, std::reverse_iterator(data_ + n_ - first));
    });
    return true;
  }

  template <bool Falls>
  bool are_in_order() const {
    auto const alone = n_ < least_in_buckets ? n_ : least_by_radix;
    auto const nearby = [this](std::size_t n, std::size_t grain, auto const& f) { this->each(n, grain, f); };
    return detail::holds_throughout(n_, alone, nearby, [this](std::size_t first, std::size_t last) {
      auto before = mapping_.key(data_[first - 1]);
      for (; first < last; ++first) {
        auto const key = mapping_.key(data_[first]);
        if (Falls ? before < key : key < before) return false;
        before = key;
      }
      return true;
    });
  }

  void map(Key* at, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i) at[i] = mapping_.key(at[i]);
  }
  void unmap(Key const* from, Key* to, std::size_t n) const {
    for (std::size_t i = 0; i < n; ++i) to[i] = mapping_.bits(from[i]);
  }

  void sort_without_memory() const {
    auto const grain = chunk_bytes / sizeof(Key);
    each(n_, grain, [this](std::size_t a, std::size_t b) { map(data_ + a, b - a); });
    detail::sort_in_place(data_, static_cast<std::ptrdiff_t>(n_), std::less<>());
    each(n_, grain, [this](std::size_t a, std::size_t b) { unmap(data_ + a, data_ + a, b - a); });
  }

  // False, and nothing done, when there is no memory.
  bool sort_by_counting() const
    requires(sizeof(Key) <= 2)
  {
    constexpr std::size_t values = std::size_t{1} << (8 * sizeof(Key));
    auto const grain = std::max(n_ / (4 * detail::workers_for_loops(nullptr)) + 1, 4 * values);
    auto const chunks = (n_ - 1) / grain + 1;
    std::unique_ptr<std::size_t[]> const counts(new (std::nothrow) std::size_t[values * chunks]());
    std::unique_ptr<std::size_t[]> const begin(new (std::nothrow) std::size_t[values + 1]());
    if (counts == nullptr || begin == nullptr) return false;
    each(n_, grain, [&](std::size_t first, std::size_t last) {
      for (; first < last; first = (first / grain + 1) * grain) {
        auto* const mine = counts.get() + first / grain * values;
        for (auto i = first; i < std::min(last, (first / grain + 1) * grain); ++i)
          ++mine[mapping_.key(data_[i])];
      }
    });
    for (std::size_t v = 0; v < values; ++v) {
      begin[v + 1] = begin[v];
      for (std::size_t c = 0; c < chunks; ++c) begin[v + 1] += counts[c * values + v];
    }
    each(n_, chunk_bytes, [&](std::size_t first, std::size_t last) {
      auto v = static_cast<std::size_t>(
          std::upper_bound(begin.get(), begin.get() + values + 1, first) - begin.get() - 1);
      for (; first < last; ++v) {
        auto const end = std::min(last, begin[v + 1]);
        std::fill(data_ + first, data_ + std::max(first, end), mapping_.bits(static_cast<Key>(v)));
        first = std::max(first, end);
      }
    });
    return true;
  }

  // Sorts the part into the data, as bits.
  void sort_part(Part part, int levels) const {
    auto const in_cache = bucket_bytes / sizeof(Key);
    auto const workers = detail::workers_for_loops(nullptr);
    if (part.count <= (levels == most_levels ? least_in_buckets : 4 * in_cache))
      return sort_in_cache(part);
    if (std::all_of(part.from, part.from + part.count, [&](Key k) { return k == part.from[0]; })) {
      auto const bits = part.mapped ? mapping_.bits(part.from[0]) : part.from[0];
      std::fill_n(in_data(part), part.count, bits);
      return;
    }
    auto const grain = std::max(chunk_bytes / sizeof(Key), part.count / (16 * workers) + 1);
    auto const chunks = (part.count - 1) / grain + 1;
    using Counts = std::array<std::size_t, most_borders>;
    std::unique_ptr<Counts[]> const counts(new (std::nothrow) Counts[chunks]());
    std::unique_ptr<Borders<Key>> const borders(new (std::nothrow) Borders<Key>);
    if (levels == 0 || counts == nullptr || borders == nullptr) return sort_by_comparisons(part);
    auto const buckets =
        std::clamp(std::bit_ceil(part.count / in_cache + 1), std::size_t{16}, most_buckets);
    sample(part, buckets, *borders);
    auto const each_chunk = [&](auto const& f) {
      each(part.count, grain, [&](std::size_t first, std::size_t last) {
        for (; first < last; first += grain) f(first, std::min(last, first + grain));
      });
    };
    each_chunk([&](std::size_t first, std::size_t last) {
      auto& mine = counts[first / grain];
      with_mapping(part, [&](auto key) {
        for (auto i = first; i < last; ++i) ++mine[(*borders)(key(part.from[i]))];
      });
    });
    std::array<std::size_t, most_borders + 1> begin{};
    std::size_t at = 0;
    for (std::size_t b = 0; b < borders->buckets(); ++b) {
      begin[b] = at;
      for (std::size_t c = 0; c < chunks; ++c) at += std::exchange(counts[c][b], at);
    }
    begin[borders->buckets()] = at;
    each_chunk([&](std::size_t first, std::size_t last) {
      auto& mine = counts[first / grain];
      with_mapping(part, [&](auto key) {
        for (auto i = first; i < last; ++i) {
          auto const k = key(part.from[i]);
          part.other[mine[(*borders)(k)]++] = k;
        }
      });
    });
    auto const sort_bucket = [&](std::size_t b) {
      auto const first = begin[b], count = begin[b + 1] - first;
      if (count > 0) sort_part({part.other + first, part.from + first, count, true}, levels - 1);
    };
    if (!near_ || part.count != n_)
      return parallel_for(std::size_t{0}, borders->buckets(), sort_bucket, dynamic_schedule());
    // Each bucket near the place where it goes.
    each(n_, detail::page_of_elements(sizeof(Key)), [&](std::size_t first, std::size_t last) {
      auto const from = std::lower_bound(begin.data(), begin.data() + borders->buckets(), first);
      for (auto b = static_cast<std::size_t>(from - begin.data());
           b < borders->buckets() && begin[b] < last; ++b)
        sort_bucket(b);
    });
  }

  template <class F>
  void with_mapping(Part const& part, F const& f) const {
    if (part.mapped)
      f([](Key k) { return k; });
    else
      f([mapping = mapping_](Key k) { return mapping.key(k); });
  }

  Key* in_data(Part const& part) const {
    return part.from >= data_ && part.from < data_ + n_ ? part.from : part.other;
  }

  void sort_by_comparisons(Part const& part) const {
    if (!part.mapped) map(part.from, part.count);
    detail::quick_sort(part.from, part.from + part.count, std::less<>());
    unmap(part.from, in_data(part), part.count);
  }

  static_assert(most_buckets * sampled * sizeof(Key) <= 32768, "the sample lies on the stack");
  void sample(Part const& part, std::size_t buckets, Borders<Key>& borders) const {
    std::array<Key, most_buckets * sampled> sample;
    auto const count = buckets * sampled;
    std::uint64_t random = 0x9e3779b97f4a7c15u ^ part.count;
    auto const stride = part.count / count;  // one of each stride, so that it is spread evenly
    for (std::size_t i = 0; i < count; ++i) {
      random = random * 6364136223846793005u + 1442695040888963407u;
      auto const key = part.from[i * stride + (random >> 33) % stride];
      sample[i] = part.mapped ? key : mapping_.key(key);
    }
    borders.set(sample.data(), count, buckets);
  }

  // One thread, by radix.
  void sort_in_cache(Part part) const {
    auto const n = part.count;
    if (n < least_by_radix) return sort_by_comparisons(part);
    if (!part.mapped) map(part.from, n);
    Key* const to = in_data(part);
    Key least = part.from[0], greatest = least;
    for (std::size_t i = 1; i < n; ++i) {
      least = std::min(least, part.from[i]);
      greatest = std::max(greatest, part.from[i]);
    }
    auto const bits = static_cast<int>(std::bit_width(static_cast<Key>(greatest - least)));
    // A key has one of 16 others for a neighbour that these bits do not tell apart, if they are
    // even.
    auto const wanted = std::min(bits, static_cast<int>(std::bit_width(n)) + 3);
    if (wanted == 0) return unmap(part.from, to, n);
    auto const passes = (wanted + digit_bits - 1) / digit_bits;
    auto const width = (wanted + passes - 1) / passes;
    auto const shift = std::max(0, bits - passes * width);
    constexpr int most_passes = sizeof(Key) <= 2 ? 2 : 3;
    std::array<std::array<std::uint32_t, digits>, static_cast<std::size_t>(most_passes)> counts{};
    auto const mask = (Key{1} << width) - 1;
    auto const digit = [&](Key k, int pass) {
      return static_cast<std::size_t>((static_cast<Key>(k - least) >> (shift + pass * width)) &
                                      mask);
    };
    auto const count_digits = [&](auto last) {
      for (std::size_t i = 0; i < n; ++i)
        for (int p = 0; p < last; ++p)
          ++counts[static_cast<std::size_t>(p)][digit(part.from[i], p)];
    };
    if (passes == 2)
      count_digits(std::integral_constant<int, 2>());
    else
      count_digits(passes);
    for (int p = 0; p < passes; ++p) {
      auto& begin = counts[static_cast<std::size_t>(p)];
      std::uint32_t at = 0;
      for (auto& count : begin) at += std::exchange(count, at);
      for (std::size_t i = 0; i < n; ++i) {
        auto const k = part.from[i];
        part.other[begin[digit(k, p)]++] = k;
      }
      std::swap(part.from, part.other);
    }
    if (shift > 0) sort_neighbours(part.from, n, least, shift);
    unmap(part.from, to, n);
  }

  // The keys are sorted, except by their last `shift` bits.
  static void sort_neighbours(Key* keys, std::size_t n, Key least, int shift) {
    auto const leading = [=](Key k) { return static_cast<Key>(k - least) >> shift; };
    constexpr std::size_t far = 16;
    for (std::size_t i = 1; i < n; ++i) {
      auto const k = keys[i];
      if (k >= keys[i - 1]) continue;
      auto at = i;
      auto const end = i < far ? 0 : i - far;
      for (; at > end && k < keys[at - 1]; --at) keys[at] = keys[at - 1];
      keys[at] = k;
      if (at > end || at == 0) continue;
      auto const mine = leading(k);  // there are many of them
      auto first = at, last = i + 1;
      while (first > 0 && leading(keys[first - 1]) == mine) --first;
      while (last < n && leading(keys[last]) == mine) ++last;
      detail::quick_sort(keys + first, keys + last, std::less<>());
      i = last - 1;
    }
  }

  Key* data_;
  std::size_t n_;
  Mapping<Key> mapping_;
  detail::placed_block const* placed_;
  std::optional<schedule> near_;
};

template <class Key>
void sort_as(void* data, std::size_t n, key_order order, detail::placed_block const* placed) {
  KeySort<Key>(static_cast<Key*>(data), n, order, placed).sort();
}

}  // namespace

detail::placed_block detail::placed_like(placed_block const& other, std::size_t element_bytes) {
  array_options options;
  options.machine = other.record()->machine;
  return {other.bytes() / element_bytes, element_bytes, other.rule(), options};
}

void detail::sort_keys(void* data, std::size_t n, key_order order, runtime* where,
                       placed_block const* placed) {
  auto const sort = [&] {
    switch (order.bytes) {
      case 1:
        return sort_as<std::uint8_t>(data, n, order, placed);
      case 2:
        return sort_as<std::uint16_t>(data, n, order, placed);
      case 4:
        return sort_as<std::uint32_t>(data, n, order, placed);
      default:
        return sort_as<std::uint64_t>(data, n, order, placed);
    }
  };
  if (n < least_by_radix) return sort();
  run_in(where, sort);
}

}  // namespace nigh
