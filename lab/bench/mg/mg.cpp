// SPDX-License-Identifier: Apache-2.0
// nigh bench mg: the multigrid benchmark in every class, by every number of threads, binding and
// memory policy, under every runtime.

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <map>
#include <memory>
#include <nigh/topology.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/mg/setting.hpp"
#include "bench/options.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"
#include "npb_mg/variant.hpp"

namespace bench {

namespace {

// Misses of the last cache, by the processor's own counters, where PAPI was there to build with and
// the machine lets us read them.

// To be made before the threads that are counted: they inherit it.
class MissCounter : public npb_mg::Watch {
 public:
  MissCounter();
  ~MissCounter() override;
  MissCounter(MissCounter const&) = delete;
  MissCounter& operator=(MissCounter const&) = delete;

  void begin() override;
  void end() override;
  std::optional<long long> misses() const noexcept { return misses_; }
  std::string const& why_not() const noexcept { return why_not_; }  // "not available here: ..."

 private:
  std::string why_not_;
  struct Events;  // PAPI's; null when there are none
  std::unique_ptr<Events> events_;
  std::optional<long long> misses_;
};

}  // namespace

}  // namespace bench

#if defined(NIGH_WITH_PAPI)
#include <papi.h>
#endif

namespace bench {

#if defined(NIGH_WITH_PAPI)

struct MissCounter::Events {
  int set = PAPI_NULL;
  long long before = 0;
};

MissCounter::MissCounter() {
  auto const fails = [&](int code) {
    if (code == PAPI_OK) return false;
    why_not_ = std::string("not available here: ") + PAPI_strerror(code);
    return true;
  };
  static int const version = PAPI_library_init(PAPI_VER_CURRENT);
  if (version != PAPI_VER_CURRENT) {
    why_not_ = "not available here: PAPI does not start";
    return;
  }
  int events = PAPI_NULL;
  if (fails(PAPI_create_eventset(&events))) return;
  PAPI_option_t inherited{};
  inherited.inherit.eventset = events;
  inherited.inherit.inherit = PAPI_INHERIT_ALL;
  if (fails(PAPI_assign_eventset_component(events, 0)) ||
      fails(PAPI_set_opt(PAPI_INHERIT, &inherited)) || fails(PAPI_add_event(events, PAPI_L3_TCM)) ||
      fails(PAPI_start(events))) {
    PAPI_cleanup_eventset(events);
    PAPI_destroy_eventset(&events);
    return;
  }
  events_ = std::make_unique<Events>(Events{events, 0});
}

MissCounter::~MissCounter() {
  if (events_ == nullptr) return;
  long long last = 0;
  PAPI_stop(events_->set, &last);
  PAPI_cleanup_eventset(events_->set);
  PAPI_destroy_eventset(&events_->set);
}

void MissCounter::begin() {
  if (events_ != nullptr) PAPI_read(events_->set, &events_->before);
}

void MissCounter::end() {
  long long now = 0;
  if (events_ != nullptr && PAPI_read(events_->set, &now) == PAPI_OK)
    misses_ = now - events_->before;
}

#else

struct MissCounter::Events {};

MissCounter::MissCounter() : why_not_("not available here: this was built without PAPI") {}
MissCounter::~MissCounter() = default;
void MissCounter::begin() {}
void MissCounter::end() {}

#endif

namespace {

struct MgFlags : Flags {  // as typed
  std::string classes, threads, variants, bind, mem, isa;
  bool huge_pages = false;
};

struct MgOptions {  // checked
  nigh::topology machine;
  std::vector<npb_mg::Class const*> classes;
  std::vector<int> threads;
  std::vector<npb_mg::VariantInfo const*> variants;  // absent ones too, unless named
  std::vector<Bind> binds;
  std::vector<Mem> mems;
  npb_mg::Kernel const* kernel = nullptr;
  int repetitions = 0;
  bool huge_pages = false;
  std::vector<std::string> left_out;  // what makes no sense here, a sentence each

  explicit MgOptions(nigh::topology t) : machine(std::move(t)) {}
};

// One domain's cpus are the same in either order, and its memory is all there is.
void leave_out_what_cannot_matter(MgOptions& o) {
  if (o.machine.domains().size() > 1) return;
  if (o.binds.size() > 1) {
    o.binds = {Bind::compact};
    o.left_out.push_back("--bind scatter: one domain, so compact puts threads on the same cpus");
  }
  if (o.mems.size() > 1) {
    o.mems = {Mem::first_touch};
    o.left_out.push_back("--mem interleave: one domain, so all pages lie there anyway");
  }
}

MgOptions check(MgFlags const& f) {
  MgOptions o(live_machine());

  std::string const classes = !f.classes.empty() ? f.classes : f.quick ? "S" : "W,A,B";
  o.classes = each<npb_mg::Class const*>(
      "--classes", classes,
      [](auto const& argument, auto const& word) { return &class_from(argument, word); });
  auto const allowed = static_cast<int>(o.machine.cpus().size());
  o.threads = doubling_to(allowed);
  if (!f.threads.empty()) o.threads = numbers("--threads", f.threads, allowed);
  if (f.variants.empty())
    for (npb_mg::VariantInfo const& v : npb_mg::variants()) {
      if (!v.name.ends_with("/runtime")) o.variants.push_back(&v);  // which is static or dynamic
    }
  else
    o.variants = each<npb_mg::VariantInfo const*>(
        "--variants", f.variants,
        [](auto const& argument, auto const& word) { return &variant_from(argument, word); });
  o.binds = each<Bind>("--bind", f.bind.empty() ? "compact,scatter" : f.bind, bind_from);
  o.mems = each<Mem>("--mem", f.mem.empty() ? "first-touch,interleave" : f.mem, mem_from);
  leave_out_what_cannot_matter(o);
  o.kernel = &kernel_from("--isa", f.isa);
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 2 : 5, 1'000'000));
  o.huge_pages = f.huge_pages;
  return o;
}

struct MgCell {
  npb_mg::Class const* size = nullptr;
  npb_mg::VariantInfo const* variant = nullptr;
  int threads = 1;
  Bind bind = Bind::compact;
  Mem mem = Mem::first_touch;

  std::vector<double> seconds;  // one for each repetition
  std::vector<double> misses;   // of the last cache, where they could be counted
  std::size_t bytes = 0;        // of the fields
  bool verified = true;
  std::string absent;  // why there are no samples

  bool same_setting(MgCell const& other) const noexcept {
    return size == other.size && threads == other.threads && bind == other.bind && mem == other.mem;
  }
};

struct MgStudy {
  std::vector<MgCell> cells;
  std::string no_counters;  // why misses were not counted

  // Median over repetitions of (other's seconds / this one's): how much faster.
  double speed_over(MgCell const& cell, MgCell const& other) const;
  // The cell of that variant under the same setting; null: none that was measured.
  MgCell const* beside(MgCell const& cell, std::string_view variant) const;
  // The same cell on one thread; null likewise.
  MgCell const* on_one_thread(MgCell const& cell) const;
};

double MgStudy::speed_over(MgCell const& cell, MgCell const& other) const {
  return median_of_ratios(other.seconds, cell.seconds);
}

MgCell const* MgStudy::beside(MgCell const& cell, std::string_view variant) const {
  npb_mg::VariantInfo const* const info = npb_mg::find_variant(variant);
  for (MgCell const& other : cells)
    if (other.variant == info && other.same_setting(cell) && !other.seconds.empty()) return &other;
  return nullptr;
}

MgCell const* MgStudy::on_one_thread(MgCell const& cell) const {
  MgCell one = cell;
  one.threads = 1;
  return beside(one, cell.variant->name);
}

std::vector<MgCell> cells_of(MgOptions const& o) {
  std::vector<MgCell> cells;
  for (npb_mg::Class const* const size : o.classes)
    for (int const threads : o.threads)
      for (Bind const bind : o.binds)
        for (Mem const mem : o.mems)
          for (npb_mg::VariantInfo const* const v : o.variants) {
            if (v->name == "serial" && threads > 1) continue;
            MgCell cell;
            cell.size = size;
            cell.variant = v;
            cell.threads = threads;
            cell.bind = bind;
            cell.mem = mem;
            cell.absent = v->make == nullptr ? v->why_absent : "";
            cells.push_back(std::move(cell));
          }
  return cells;
}

// Fields are made again for every sample, so that each variant's loops are the first to touch them;
// where there is one domain only, that is once for a class.
class Memory {
 public:
  explicit Memory(MgOptions const& o) : options_(o) {}

  npb_mg::Fields& fields_for(MgCell const& cell) {
    bool const keep = fields_ != nullptr && size_ == cell.size && !matters();
    if (keep) return *fields_;
    fields_.reset();  // before the next ones are asked for
    npb_mg::Placing placing;
    placing.rule = rule_of(cell.mem);
    placing.huge_pages = options_.huge_pages;
    placing.machine = &options_.machine;
    fields_ = std::make_unique<npb_mg::Fields>(*cell.size, placing);
    size_ = cell.size;
    return *fields_;
  }

 private:
  bool matters() const { return options_.machine.domains().size() > 1; }

  MgOptions const& options_;
  npb_mg::Class const* size_ = nullptr;
  std::unique_ptr<npb_mg::Fields> fields_;
};

// Threads of the variant before are asleep by then.
void settle() { std::this_thread::sleep_for(std::chrono::milliseconds(5)); }

std::string name_of(MgCell const& cell) {
  return std::string(1, cell.size->name) + ' ' + cell.variant->name + ' ' +
         std::to_string(cell.threads);
}

MgStudy study(MgOptions const& o) {
  MgStudy s;
  s.cells = cells_of(o);
  std::map<char, npb_mg::Charges> charges;
  for (npb_mg::Class const* const size : o.classes)
    charges[size->name] = npb_mg::find_charges(size->n, o.threads.back());

  Memory memory(o);
  take_turns(o.repetitions, s.cells, name_of, [&](MgCell& cell) {
    MissCounter counter;
    s.no_counters = counter.why_not();
    settle();
    std::unique_ptr<npb_mg::Variant> variant;
    try {
      variant = cell.variant->make(team_for(o.machine, cell.threads, cell.bind, *o.kernel));
    } catch (std::runtime_error const& e) {  // its runtime has other threads to offer
      cell.absent = e.what();
      return;
    }
    npb_mg::Fields& fields = memory.fields_for(cell);
    auto const r = npb_mg::run(*variant, fields, *cell.size, charges[cell.size->name], &counter);
    cell.seconds.push_back(r.seconds);
    if (counter.misses()) cell.misses.push_back(static_cast<double>(*counter.misses()));
    cell.bytes = fields.bytes();
    cell.verified = cell.verified && r.verified;
  });
  return s;
}

constexpr char const* reference = "openmp/static";

std::string times(MgStudy const& s, MgCell const& cell, MgCell const* other) {
  return other == nullptr ? "" : fmt::format("{:.2f}", s.speed_over(cell, *other));
}

std::vector<std::string> columns(MgStudy const& s, MgCell const& cell) {
  Statistics const t = statistics_of(cell.seconds);
  return {cell.variant->name,
          fmt::format("{:.4g}", t.median),
          fmt::format("{:.0f}", npb_mg::mops(*cell.size, t.median)),
          fmt::format("{:.0f}%", t.median > 0 ? 100 * (t.max - t.min) / t.median : 0),
          times(s, cell, s.beside(cell, reference)),
          times(s, cell, s.on_one_thread(cell)),
          cell.misses.empty() ? "" : fmt::format("{:.1f}", median_of(cell.misses) * 64 / 1e9),
          cell.verified ? "yes" : "NO"};
}

std::string title(MgCell const& c, MgOptions const& o) {
  std::string text =
      fmt::format("class {}: {}^3, {} iterations; {} thread{}", c.size->name, c.size->n,
                  c.size->iterations, c.threads, c.threads == 1 ? "" : "s");
  if (o.machine.domains().size() > 1)
    text += fmt::format(", {}, {}", to_string(c.bind), to_string(c.mem));
  return text;
}

std::string describe(MgStudy const& s, MgOptions const& o) {
  std::string text = fmt::format(
      "NPB multigrid: seconds of the timed part, median of {} samples, all variants in turn;\n"
      "x openmp, x 1 thread: how much faster than {} beside it, and than itself on one thread\n"
      "(medians of the ratios sample by sample); GB: misses of the last cache, 64 bytes each;\n"
      "{} operators, {} pages\n",
      o.repetitions, reference, o.kernel->isa, o.huge_pages ? "huge" : "small");
  for (std::size_t at = 0; at < s.cells.size();) {
    MgCell const& first = s.cells[at];
    Table t;
    t.row({"", "seconds", "Mop/s", "spread", "x openmp", "x 1 thread", "GB", "verified"});
    t.rule();
    for (; at < s.cells.size() && s.cells[at].same_setting(first); ++at)
      if (s.cells[at].absent.empty()) t.row(columns(s, s.cells[at]));
    text += fmt::format("\n{}\n\n{}", title(first, o), t.text());
  }
  text += '\n';
  for (npb_mg::VariantInfo const* const v : o.variants)
    if (v->make == nullptr) text += fmt::format("absent: {}: {}\n", v->name, v->why_absent);
  for (std::string const& what : o.left_out) text += fmt::format("left out: {}\n", what);
  if (!s.no_counters.empty()) text += fmt::format("misses of the last cache: {}\n", s.no_counters);
  return text;
}

std::vector<Result> results(MgStudy const& s, MgOptions const& o) {
  std::vector<Result> all;
  for (MgCell const& cell : s.cells) {
    Result r;
    r.bench = "mg";
    r.variant = cell.variant->name;
    r.params = {{"class", std::string(1, cell.size->name)},
                {"n", static_cast<long>(cell.size->n)},
                {"iterations", static_cast<long>(cell.size->iterations)},
                {"threads", static_cast<long>(cell.threads)},
                {"bind", std::string(to_string(cell.bind))},
                {"mem", std::string(to_string(cell.mem))},
                {"isa", std::string(o.kernel->isa)},
                {"pages", std::string(o.huge_pages ? "huge" : "small")}};
    r.metric = "rate";
    r.unit = "Mop/s";
    for (double const t : cell.seconds) r.samples.push_back(npb_mg::mops(*cell.size, t));
    r.verified = cell.verified;
    r.absent = cell.absent;
    r.counters = {{"seconds", median_of(cell.seconds)},
                  {"field_bytes", static_cast<long>(cell.bytes)}};
    if (MgCell const* other = s.beside(cell, reference))
      r.counters["speed_over_openmp_static"] = s.speed_over(cell, *other);
    if (MgCell const* one = s.on_one_thread(cell))
      r.counters["speed_over_one_thread"] = s.speed_over(cell, *one);
    if (!cell.misses.empty()) r.counters["last_cache_misses"] = median_of(cell.misses);
    all.push_back(std::move(r));
  }
  return all;
}

}  // namespace

}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  MgFlags f;
  std::optional<MgOptions> o;
  return run_benchmark(
      {.name = "mg",
       .measures = "NPB multigrid under every runtime, thread binding and memory policy",
       .wrong = "a norm is not the published one",
       .samples = "each; default 5",
       .quick = "class S and few samples",
       .options =
           [&](CLI::App& app) {
             app.add_option("--classes", f.classes, "of S,W,A,B,C,D; default W,A,B")
                 ->type_name("LIST");
             app.add_option("--threads", f.threads,
                            "as 1,2; default 1, 2, 4, ... and all allowed cpus")
                 ->type_name("LIST");
             app.add_option("--variants", f.variants, "as openmp/static,nigh/fused; default: all")
                 ->type_name("LIST");
             app.add_option("--bind", f.bind,
                            "compact, scatter or both as compact,scatter (default)")
                 ->type_name("LIST");
             app.add_option("--mem", f.mem, "first-touch, interleave or both (default)")
                 ->type_name("LIST");
             app.add_option("--isa", f.isa,
                            "operators for baseline, avx2 or avx512; default: the widest")
                 ->type_name("NAME");
             app.add_flag("--huge-pages", f.huge_pages, "ask for transparent huge pages");
           },
       .list = [] { list_variants(npb_mg::variants()); },
       .plan = [&]() -> Plan {
         o = check(f);
         return {&o->machine, {[&] { return findings(study(*o), *o); }}};
       }},
      f, argc, argv);
}
