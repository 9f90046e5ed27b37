// SPDX-License-Identifier: Apache-2.0
// Shows where the pages of an array go under each placement, and moves some.
#include <cstdio>
#include <exception>
#include <nigh/array.hpp>
#include <span>

namespace {

constexpr std::size_t rows = 600, columns = 4096;  // of 8 bytes: a row is 8 pages

void show(char const* name, nigh::array<double> const& a) {
  auto const report = nigh::placement_report(a);
  std::printf("%-12s", name);
  for (std::size_t pages : report.pages_of_domain) std::printf(" %6zu", pages);
  std::printf("   %zu misplaced, %zu untouched\n", report.misplaced, report.untouched);
  if (!report.note.empty()) std::printf("    (%s)\n", report.note.c_str());
}

void try_out(char const* name, nigh::placement rule) {
  nigh::array<double> field(rows * columns, rule);
  for (double& x : field) x = 1;  // one thread writes it all
  show(name, field);
}

}  // namespace

int main() try {
  std::printf("pages of domain 0, 1, ...\n");
  try_out("first touch", nigh::placement::first_touch());
  try_out("interleave", nigh::placement::interleave());
  try_out("bind(0)", nigh::placement::bind(0));
  try_out("blocked", nigh::placement::blocked(columns));     // borders between rows
  try_out("cyclic", nigh::placement::cyclic(10 * columns));  // ten rows to each in turn

  nigh::array<double> field(rows * columns, nigh::placement::blocked(columns));
  for (double& x : field) x = 1;
  int const last = nigh::this_host().cpu_domains() - 1;
  std::printf("row 0 lies in domain %d, row 599 in domain %d\n", nigh::domain_of(&field[0]),
              field.domain_of(599 * columns));
  if (auto const moved = nigh::migrate(std::span(&field[0], 100 * columns), last); !moved)
    std::printf("%s\n", moved.message().c_str());
  show("100 moved", field);

  nigh::array<double> too_much(std::size_t{1} << 45);
} catch (std::exception const& e) {
  std::printf("%s\n", e.what());
}
