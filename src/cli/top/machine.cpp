// SPDX-License-Identifier: Apache-2.0
#include "cli/top/machine.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/cpu_list.hpp"
namespace nigh::cli::top {
namespace {

std::vector<int> common(std::vector<int> const& cpus, std::vector<int> const& with) {
  std::vector<int> both;
  for (int c : cpus)
    if (std::find(with.begin(), with.end(), c) != with.end()) both.push_back(c);
  return both;
}

// A cache of a single cpu groups nothing.
std::vector<std::vector<int>> caches_of(topology const& machine, std::vector<int> const& cpus) {
  std::vector<std::vector<int>> caches;
  for (auto const& group : machine.groups(level::l3))
    if (auto both = common(group, cpus); !both.empty()) caches.push_back(std::move(both));
  bool const tells =
      std::any_of(caches.begin(), caches.end(), [](auto const& c) { return c.size() > 1; });
  return tells ? caches : std::vector<std::vector<int>>{cpus};
}

// Puts cpus into rows, from a column on.
class Writer {
 public:
  Writer(std::vector<CpuSign> const& cpus, int width) : cpus_(cpus), width_(width) {}

  Row& begin(int from) {
    from_ = from;
    return rows.emplace_back();
  }
  void label(std::string text, Style style = {}) { rows.back().add(std::move(text), style); }

  // After the existing rows, or beginning the next row when that is better.
  void cache(std::vector<int> const& group, bool with_gap) {
    auto const size = static_cast<int>(group.size());
    int const gap = with_gap && rows.back().end() > from_ ? 1 : 0;
    int const at = std::max(from_, rows.back().end()) + gap;
    bool const fits_below = size <= width_ - from_;
    if (at + (fits_below ? size : 1) > width_ && rows.back().end() > from_) rows.emplace_back();
    int column = rows.back().end() > from_ ? at : from_;
    for (int c : group) {
      if (column >= width_) rows.emplace_back(), column = from_;
      put(column++, c);
    }
  }
  // A domain with its name, on a row with others.
  void word(MachineTree::Domain const& domain, std::string const& name) {
    int size = width_of(name) + 1;
    for (auto const& group : domain.caches) size += static_cast<int>(group.size());
    int const at = rows.back().end() == 0 ? 0 : rows.back().end() + 2;
    if (at > 0 && at + std::min(size, width_) > width_) rows.emplace_back();
    rows.back().add_at(rows.back().end() == 0 ? 0 : at, name, {Ink::strong});
    rows.back().add(" ");
    for (auto const& group : domain.caches)
      for (int c : group) {
        int column = rows.back().end();
        if (column >= width_) {  // it began a row, and goes on below its first cpu
          rows.emplace_back();
          column = std::min(width_of(name) + 1, width_ - 1);
        }
        put(column, c);
      }
  }

  Rows rows;

 private:
  void put(int column, int cpu) {
    auto const c = static_cast<std::size_t>(cpu);
    CpuSign const sign = c < cpus_.size() ? cpus_[c] : CpuSign{};
    auto& pieces = rows.back().pieces;
    bool const goes_on =
        !pieces.empty() && rows.back().end() == column && pieces.back().style == sign.style;
    if (goes_on)
      pieces.back().text += sign.sign;
    else
      rows.back().add_at(column, std::string(1, sign.sign), sign.style);
  }

  std::vector<CpuSign> const& cpus_;
  int width_;
  int from_ = 0;
};

// "package 0", with the list of its cpus if there is room for that.
std::string label_of(std::string const& name, MachineTree::Domain const& domain, bool with_cpus) {
  if (!with_cpus) return name;
  std::vector<int> all;
  for (auto const& cache : domain.caches) all.insert(all.end(), cache.begin(), cache.end());
  return name + (all.size() == 1 ? ", cpu " : ", cpus ") + base::cpu_list(all);
}

int label_width(MachineTree const& machine, bool with_cpus, Signs const& signs) {
  int width = 0;
  for (auto const& package : machine.packages)
    for (auto const& domain : package.domains) {
      bool const is_one = package.domains.size() == 1;
      auto const label = label_of(is_one ? package.name : domain.name, domain, with_cpus);
      width = std::max(width, (is_one ? 0 : width_of(signs.branch)) + width_of(label));
    }
  return width;
}

Rows tree_rows(MachineTree const& machine, std::vector<CpuSign> const& cpus, int width,
               Signs const& signs) {
  int label = label_width(machine, true, signs);
  bool const with_cpus = label <= width * 2 / 5;
  if (!with_cpus) label = label_width(machine, false, signs);
  Writer writer(cpus, width);
  for (auto const& package : machine.packages) {
    writer.begin(label + 2);
    bool const is_one = package.domains.size() == 1;
    writer.label(is_one ? label_of(package.name, package.domains[0], with_cpus) : package.name,
                 {Ink::strong});
    for (auto const& domain : package.domains) {
      if (!is_one) {
        bool const is_last = &domain == &package.domains.back();
        writer.begin(label + 2);
        writer.label(std::string(is_last ? signs.last_branch : signs.branch));
        writer.label(label_of(domain.name, domain, with_cpus));
      }
      for (auto const& cache : domain.caches) writer.cache(cache, true);
    }
  }
  return std::move(writer.rows);
}

Rows dense_rows(MachineTree const& machine, std::vector<CpuSign> const& cpus, int width) {
  Writer writer(cpus, width);
  writer.begin(0);
  for (auto const& package : machine.packages)
    for (auto const& domain : package.domains) writer.word(domain, domain.short_name);
  return std::move(writer.rows);
}

}  // namespace

// Where a domain is larger than a package, only packages are shown.
MachineTree MachineTree::of(topology const& machine) {
  MachineTree tree;
  auto const packages = machine.groups(level::package);
  bool const has_domains = static_cast<std::size_t>(machine.cpu_domains()) > packages.size();
  for (auto const& group : packages) {
    auto const number = std::to_string(tree.packages.size());
    Package package{"package " + number, {}};
    for (int d = 0; d < machine.cpu_domains(); ++d) {
      auto const cpus = common(machine.domains()[static_cast<std::size_t>(d)].cpus, group);
      if (cpus.empty()) continue;
      auto const name = std::to_string(d);
      package.domains.push_back(
          {"domain " + name, has_domains ? "d" + name : "p" + number, caches_of(machine, cpus)});
    }
    tree.packages.push_back(std::move(package));
  }
  return tree;
}

Rows machine_rows(MachineTree const& machine, std::vector<CpuSign> const& cpus, int width, int most,
                  Signs const& signs) {
  auto rows = tree_rows(machine, cpus, width, signs);
  if (static_cast<int>(rows.size()) <= most) return rows;
  return dense_rows(machine, cpus, width);
}

}  // namespace nigh::cli::top
