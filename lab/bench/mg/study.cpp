// SPDX-License-Identifier: Apache-2.0
#include "bench/mg/study.hpp"

#include <chrono>
#include <map>
#include <stdexcept>
#include <thread>

#include "bench/mg/counters.hpp"
#include "bench/progress.hpp"
#include "bench/statistics.hpp"

namespace bench {

namespace {

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

}  // namespace

MgStudy study(MgOptions const& o) {
  MgStudy s;
  s.cells = cells_of(o);
  std::map<char, npb_mg::Charges> charges;
  for (npb_mg::Class const* const size : o.classes)
    charges[size->name] = npb_mg::find_charges(size->n, o.threads.back());

  Memory memory(o);
  Progress progress(static_cast<int>(s.cells.size()) * o.repetitions);
  for (int repetition = 0; repetition < o.repetitions; ++repetition)
    for (MgCell& cell : s.cells) {
      progress.step(name_of(cell));
      if (!cell.absent.empty()) continue;
      MissCounter counter;
      s.no_counters = counter.why_not();
      settle();
      std::unique_ptr<npb_mg::Variant> variant;
      try {
        variant = cell.variant->make(team_for(o.machine, cell.threads, cell.bind, *o.kernel));
      } catch (std::runtime_error const& e) {  // its runtime has other threads to offer
        cell.absent = e.what();
        continue;
      }
      npb_mg::Fields& fields = memory.fields_for(cell);
      auto const r = npb_mg::run(*variant, fields, *cell.size, charges[cell.size->name], &counter);
      cell.seconds.push_back(r.seconds);
      if (counter.misses()) cell.misses.push_back(static_cast<double>(*counter.misses()));
      cell.bytes = fields.bytes();
      cell.verified = cell.verified && r.verified;
    }
  return s;
}

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

}  // namespace bench
