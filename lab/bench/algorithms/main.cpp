// SPDX-License-Identifier: Apache-2.0
// nigh bench algorithms: nigh's parallel algorithms beside those of oneTBB, of libstdc++'s parallel
// mode, and of the standard's execution policies, on arrays of several sizes and types.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <nigh/topology.hpp>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "bench/algorithms/calls.hpp"
#include "bench/benchmark.hpp"
#include "bench/options.hpp"
#include "bench/pin.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {

namespace {

using namespace algorithms;

enum class Input : std::uint8_t { shuffled, small, sought, halves };
enum class Output : std::uint8_t { none, data, out, front_of_data, front_of_out, parts, pairs };

struct Algorithm {
  char const* name;
  Input input;
  Output output;
  bool changes_data, has_orders;
};

constexpr Algorithm all_algorithms[] = {
    {"sort", Input::shuffled, Output::data, true, true},
    {"stable_sort", Input::shuffled, Output::data, true, true},
    {"sort_by_key", Input::shuffled, Output::pairs, true, true},
    {"merge", Input::halves, Output::front_of_out, false, false},
    {"partition", Input::shuffled, Output::parts, true, false},
    {"stable_partition", Input::shuffled, Output::data, true, false},
    {"copy_if", Input::shuffled, Output::front_of_out, false, false},
    {"unique", Input::small, Output::front_of_data, true, false},
    {"find_if", Input::sought, Output::none, false, false},
    {"any_of", Input::sought, Output::none, false, false},
    {"count_if", Input::shuffled, Output::none, false, false},
    {"min_element", Input::shuffled, Output::none, false, false},
    {"minmax_element", Input::shuffled, Output::none, false, false},
    {"histogram", Input::shuffled, Output::none, false, false},
    {"for_each", Input::shuffled, Output::data, true, false},
    {"transform", Input::shuffled, Output::out, false, false},
    {"fill", Input::shuffled, Output::data, true, false},
    {"generate", Input::shuffled, Output::data, true, false},
    {"reduce", Input::small, Output::none, false, false},
    {"transform_reduce", Input::small, Output::none, false, false},
    {"inclusive_scan", Input::small, Output::out, false, false},
    {"exclusive_scan", Input::small, Output::out, false, false},
};

struct AlgorithmsFlags : Flags {
  std::string algorithms, sizes = "1000,10000,100000,1000000,10000000",
                          types = "double,int32,record", orders = "random,sorted,reversed";
  long threads = 2;
};

struct AlgorithmsOptions {
  explicit AlgorithmsOptions(nigh::topology here) : machine(std::move(here)) {}

  nigh::topology machine;
  std::vector<int> cpus;
  std::vector<Algorithm const*> algorithms;
  std::vector<int> sizes;
  std::vector<std::string> types, orders;
  int repetitions = 0;
};

std::string known_word(char const* argument, std::string const& word,
                       std::vector<std::string> const& known) {
  if (std::find(known.begin(), known.end(), word) == known.end())
    refuse(argument, word, fmt::format("is none of {}", fmt::join(known, ", ")));
  return word;
}

Algorithm const* find_algorithm(std::string const& argument, std::string const& word) {
  for (Algorithm const& a : all_algorithms)
    if (a.name == word) return &a;
  refuse(argument, word, "is not there; --list names the algorithms");
}

AlgorithmsOptions check(AlgorithmsFlags const& f) {
  AlgorithmsOptions o(live_machine());
  in_range("--threads", f.threads, 1, 1'000'000);
  o.cpus = cpus_for(f.threads, o.machine);
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 2 : 7, 1'000'000));
  if (f.algorithms.empty())
    for (Algorithm const& a : all_algorithms) o.algorithms.push_back(&a);
  else
    o.algorithms = each<Algorithm const*>("--algorithms", f.algorithms, find_algorithm);
  o.sizes = numbers("--sizes", f.sizes, 1'000'000'000);
  if (f.quick) o.sizes = {1, 1000, 30'000};
  auto const words = [](char const* argument, std::string const& list,
                        std::vector<std::string> const& known) {
    return each<std::string>(argument, list, [&](std::string const& a, std::string const& word) {
      return known_word(a.c_str(), word, known);
    });
  };
  o.types = words("--types", f.types, {"double", "int32", "record"});
  o.orders = words("--orders", f.orders, {"random", "sorted", "reversed"});
  return o;
}

// Small numbers: any order of additions gives the same bits, and nothing overflows.
template <class T>
std::vector<T> make_input(Input input, std::string const& order, std::size_t n) {
  std::mt19937_64 random(n);
  std::vector<T> made(n);
  for (T& x : made) {
    auto const bits = random();
    x = with_key<T>(static_cast<std::int64_t>(input == Input::small ? bits >> 62 : bits >> 34));
    if constexpr (std::is_same_v<T, double>)
      if (input != Input::small) x += static_cast<double>(bits & 0xffff) / 65536;
  }
  auto const middle = made.begin() + static_cast<std::ptrdiff_t>(n / 2);
  if (input == Input::sought && n > 0) made.back() = with_key<T>(-2);
  if (input == Input::halves || order == "sorted")
    std::sort(made.begin(), input == Input::halves ? middle : made.end());
  if (input == Input::halves) std::sort(middle, made.end());
  if (order == "reversed")
    std::sort(made.begin(), made.end(), [](T const& a, T const& b) { return b < a; });
  return made;
}

// An algorithm's input, and as many copies of it as make a measurement long enough.
template <class T>
class Ground {
 public:
  Ground(Algorithm const& algorithm, std::string const& order, std::size_t n)
      : algorithm_(algorithm),
        input_(make_input<T>(algorithm.input, order, n)),
        copies_(std::clamp<std::size_t>(800'000 / std::max<std::size_t>(n, 1), 1, 64)),
        data_(n * copies_),
        out_(n * copies_),
        spare_(std::min<std::size_t>(n, 100'000)),
        spare_out_(spare_.size()) {
    for (std::size_t c = 0; c < copies_; ++c) refill(c);
  }

  // Seconds of one call, in a program that has called the same before: no library's threads sleep
  // unless it lets them.
  double seconds(Library const& library, Call<T> const& call) {
    if (algorithm_.changes_data)
      for (std::size_t c = 0; c < copies_; ++c) refill(c);
    std::copy_n(input_.begin(), spare_.size(), spare_.begin());
    if (algorithm_.output == Output::pairs)
      std::copy(spare_.begin(), spare_.end(), spare_out_.begin());
    double seconds = 0;
    library.run([&] {
      call({spare_.data(), spare_out_.data(), spare_.size()});
      auto const start = std::chrono::steady_clock::now();
      for (std::size_t c = 0; c < copies_; ++c) found_ = call(copy(c));
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    });
    return seconds / static_cast<double>(copies_);
  }

  // Is the last call's result what the serial one's was?
  bool is_right(Library const& serial, Call<T> const& call) {
    if (reference_data_.empty()) {
      reference_data_ = input_;
      reference_out_.resize(input_.size());
      if (algorithm_.output == Output::pairs) reference_out_ = input_;
      serial.run([&] {
        expected_ = call({reference_data_.data(), reference_out_.data(), input_.size()});
      });
    }
    if (algorithm_.name != std::string("min_element") && found_ != expected_) return false;
    auto const a = copy(copies_ - 1);
    auto const front = static_cast<std::size_t>(expected_);
    auto const same = [&](T const* x, std::vector<T> const& y, std::size_t n) {
      return std::equal(x, x + n, y.begin());
    };
    switch (algorithm_.output) {
      case Output::data:
        return same(a.data, reference_data_, a.n);
      case Output::out:
        return same(a.out, reference_out_, a.n);
      case Output::front_of_data:
        return same(a.data, reference_data_, front);
      case Output::front_of_out:
        return same(a.out, reference_out_, front);
      case Output::pairs:
        return same(a.data, reference_data_, a.n) && same(a.out, reference_data_, a.n);
      case Output::parts:
        return has_parts(a, front);
      case Output::none:
        break;
    }
    // Of equal elements, not every library names the first.
    return algorithm_.name != std::string("min_element") || a.n == 0 ||
           key_of(a.data[found_]) == key_of(a.data[expected_]);
  }

 private:
  Arrays<T> copy(std::size_t c) noexcept {
    return {data_.data() + c * input_.size(), out_.data() + c * input_.size(), input_.size()};
  }
  void refill(std::size_t c) noexcept {
    std::copy(input_.begin(), input_.end(), copy(c).data);
    if (algorithm_.output == Output::pairs) std::copy(input_.begin(), input_.end(), copy(c).out);
  }

  // The same elements, first those that the predicate holds for.
  bool has_parts(Arrays<T> const& a, std::size_t front) {
    auto const middle = a.data + front;
    std::vector<T> mine(a.data, a.end()), all = input_;
    std::sort(mine.begin(), mine.end());
    std::sort(all.begin(), all.end());
    return mine == all && std::all_of(a.data, middle, IsOdd()) &&
           std::none_of(middle, a.end(), IsOdd());
  }

  Algorithm const& algorithm_;
  std::vector<T> input_;
  std::size_t copies_;
  std::vector<T> data_, out_, spare_, spare_out_, reference_data_, reference_out_;
  std::int64_t found_ = 0, expected_ = 0;
};

// Threads of the libraries called before may spin for more work; GNU's for 13 ms where the
// processor's pause takes long. They would be on the cpus of the one called next.
void await_sleep_of_others() {
  for (int n = 0; n < 100; ++n) {
    auto const before = std::clock();  // cpu time of all threads
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    if (std::clock() - before < CLOCKS_PER_SEC / 10'000) return;
  }
}

template <class T>
Call<T> const* call_named(Library const& library, std::string const& name) {
  for (auto const& c : calls_of<T>(library))
    if (c.algorithm == name) return &c.call;
  return nullptr;
}

template <class T>
std::vector<Result> measure_ground(Algorithm const& algorithm, std::string const& type,
                                   std::string const& order, int size,
                                   std::vector<Library> const& libraries,
                                   AlgorithmsOptions const& o, nigh::platform::Progress& progress) {
  Call<T> const* const serial = call_named<T>(libraries.front(), algorithm.name);
  if (serial == nullptr) return {};
  auto const n = static_cast<std::size_t>(size);
  Ground<T> ground(algorithm, order, n);
  std::vector<Result> results;
  std::vector<Call<T> const*> calls;
  for (Library const& library : libraries) {
    auto const* const call = call_named<T>(library, algorithm.name);
    if (call == nullptr && library.absent.empty()) continue;  // it has no such algorithm
    Result r;
    r.bench = std::string("algorithms/") + algorithm.name;
    r.variant = library.name;
    r.params = {{"elements", static_cast<long>(size)},
                {"type", type},
                {"threads", static_cast<long>(o.cpus.size())}};
    if (algorithm.has_orders) r.params["order"] = order;
    r.metric = "time_per_element";
    r.unit = "ns";
    r.absent = library.absent;
    if (r.absent.empty()) r.verified = true;
    results.push_back(std::move(r));
    calls.push_back(call);
  }
  for (int repetition = -1; repetition < o.repetitions; ++repetition)  // the first one warms up
    for (std::size_t at = 0; at < results.size(); ++at) {
      Result& r = results[at];
      if (!r.absent.empty()) continue;
      progress.step(fmt::format("{} of {} {}, {}", algorithm.name, size, type, r.variant));
      auto const& library = *std::find_if(libraries.begin(), libraries.end(),
                                          [&](Library const& l) { return l.name == r.variant; });
      pin_this_thread(o.cpus.front());
      await_sleep_of_others();
      double const seconds = ground.seconds(library, *calls[at]);
      r.verified = *r.verified && ground.is_right(libraries.front(), *serial);
      if (repetition >= 0)
        r.samples.push_back(seconds * 1e9 / static_cast<double>(std::max<std::size_t>(n, 1)));
    }
  return results;
}

std::vector<Library> all_libraries(std::vector<int> const& cpus) {
  std::vector<Library> libraries;
  libraries.push_back(serial_library());
  libraries.push_back(nigh_library(cpus));
  libraries.push_back(pstl_nigh_library(cpus));
  libraries.push_back(tbb_library(cpus));
  libraries.push_back(pstl_tbb_library(cpus));
  libraries.push_back(gnu_library(cpus));
  return libraries;
}

bool is_peer(std::string const& variant) {
  return variant != "serial" && variant.find("nigh") == std::string::npos;
}

// A row an input: the median of each library, and how nigh stands beside the best of its peers.
std::string describe_algorithm(std::vector<Result> const& results,
                               std::vector<Library> const& libraries) {
  Table t;
  std::vector<std::string> head{""};
  for (Library const& l : libraries) head.push_back(l.name);
  head.emplace_back("nigh/best");
  t.row(head);
  t.rule();
  for (std::size_t at = 0; at < results.size();) {
    auto const& params = results[at].params;
    auto row_end = at;
    while (row_end < results.size() && results[row_end].params == params) ++row_end;
    auto const order =
        params.count("order") > 0 ? ", " + std::get<std::string>(params.at("order")) : "";
    std::vector<std::string> row{fmt::format("{} {}{}", std::get<long>(params.at("elements")),
                                             std::get<std::string>(params.at("type")), order)};
    Result const* best = nullptr;
    Result const* own = nullptr;
    for (Library const& l : libraries) {
      auto const mine = std::find_if(results.begin() + static_cast<std::ptrdiff_t>(at),
                                     results.begin() + static_cast<std::ptrdiff_t>(row_end),
                                     [&](Result const& r) { return r.variant == l.name; });
      bool const is_there = mine != results.begin() + static_cast<std::ptrdiff_t>(row_end);
      if (!is_there || !mine->absent.empty()) {
        row.emplace_back(is_there ? "absent" : "-");
        continue;
      }
      double const median = median_of(mine->samples);
      row.push_back(fmt::format("{:.3f}", median));
      if (l.name == "nigh") own = &*mine;
      if (is_peer(l.name) && (best == nullptr || median < median_of(best->samples))) best = &*mine;
    }
    row.push_back(best != nullptr && own != nullptr
                      ? fmt::format("{:.2f}", median_of_ratios(own->samples, best->samples))
                      : "-");
    t.row(row);
    at = row_end;
  }
  return t.text();
}

template <class T>
void measure_type(Algorithm const& algorithm, std::string const& type,
                  std::vector<Library> const& libraries, AlgorithmsOptions const& o,
                  nigh::platform::Progress& progress, std::vector<Result>& results) {
  for (std::string const& order :
       algorithm.has_orders ? o.orders : std::vector<std::string>{"random"})
    for (int const size : o.sizes)
      for (Result& r : measure_ground<T>(algorithm, type, order, size, libraries, o, progress))
        results.push_back(std::move(r));
}

Findings measure_algorithm(Algorithm const& algorithm, std::vector<Library> const& libraries,
                           AlgorithmsOptions const& o) {
  auto const inputs =
      o.sizes.size() * o.types.size() * (algorithm.has_orders ? o.orders.size() : 1);
  nigh::platform::Progress progress(static_cast<int>(inputs * libraries.size()) *
                                    (o.repetitions + 1));
  std::vector<Result> results;
  for (std::string const& type : o.types) {
    if (type == "double") measure_type<double>(algorithm, type, libraries, o, progress, results);
    if (type == "int32")
      measure_type<std::int32_t>(algorithm, type, libraries, o, progress, results);
    if (type == "record") measure_type<Record>(algorithm, type, libraries, o, progress, results);
  }
  return {fmt::format("{} on {} threads: ns per element, medians of {}\n\n", algorithm.name,
                      o.cpus.size(), o.repetitions) +
              describe_algorithm(results, libraries),
          results};
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  AlgorithmsFlags f;
  std::optional<AlgorithmsOptions> o;
  std::vector<algorithms::Library> libraries;
  return run_benchmark(
      {.name = "algorithms",
       .measures = "sort, scan, reduce, find, ... beside those of other libraries",
       .wrong = "an algorithm's result is wrong",
       .samples = "each; default 7",
       .quick = "small arrays and few samples",
       .options =
           [&](CLI::App& app) {
             app.add_option("--algorithms", f.algorithms, "as sort,reduce; default: all");
             app.add_option("--sizes", f.sizes,
                            "elements; default 1000,10000,100000,1000000,10000000");
             app.add_option("--types", f.types,
                            "double, int32, record (of 64 bytes); default: all");
             app.add_option("--orders", f.orders,
                            "of what is sorted: random, sorted, reversed; default: all");
             app.add_option("--threads", f.threads, "threads of each library; default 2");
           },
       .list =
           [] {
             for (Algorithm const& a : all_algorithms) fmt::print("{}\n", a.name);
           },
       .plan = [&]() -> Plan {
         o = check(f);
         libraries = all_libraries(o->cpus);
         Plan plan;
         plan.machine = &o->machine;
         for (Algorithm const* a : o->algorithms)
           plan.parts.push_back(
               [a, &libraries, &o] { return measure_algorithm(*a, libraries, *o); });
         return plan;
       }},
      f, argc, argv);
}
