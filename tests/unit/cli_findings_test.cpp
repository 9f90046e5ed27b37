// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/findings.hpp"

namespace nigh::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

// A quiet machine of 4 domains with 4 cpus each, where everything is permitted.
Facts ideal() {
  Facts facts;
  facts.limits.perf_event_paranoid = 2;
  facts.limits.numa_balancing = false;
  facts.limits.huge_pages = "madvise";
  facts.limits.governor = "performance";
  facts.limits.load = 0.1;
  facts.limits.runnable = 0;
  facts.limits.nodes_with_memory = 4;
  facts.limits.nodes_allowed = 4;
  facts.cpus_present = facts.cpus_allowed = facts.cores_allowed = 16;
  facts.domains = 4;
  return facts;
}

std::vector<std::string> ids(Facts const& facts) {
  std::vector<std::string> out;
  for (auto const& finding : diagnose(facts)) out.push_back(finding.id);
  return out;
}

// The one finding expected of these facts.
Finding only(Facts const& facts) {
  auto const findings = diagnose(facts);
  EXPECT_EQ(findings.size(), 1U);
  return findings.empty() ? Finding{} : findings.front();
}

TEST(findings, ideal_machine_has_none) { EXPECT_TRUE(diagnose(ideal()).empty()); }

TEST(findings, silent_system_is_not_accused) {
  Facts facts = ideal();
  facts.limits = {};
  EXPECT_TRUE(diagnose(facts).empty());
}

TEST(findings, one_domain) {
  Facts facts = ideal();
  facts.domains = 1;
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "one-domain");
  EXPECT_THAT(finding.what_to_do, HasSubstr("numa-vm"));
  EXPECT_THAT(finding.what_to_do, HasSubstr("Nothing needs mending"));
}

TEST(findings, one_domain_of_a_virtual_machine_may_be_its_hosts_choice) {
  Facts facts = ideal();
  facts.domains = 1;
  facts.limits.virtual_machine = true;
  EXPECT_THAT(diagnose(facts).front().what_to_do, HasSubstr("virtual NUMA"));
  EXPECT_EQ(ids(facts), (std::vector<std::string>{"one-domain", "virtual-machine"}));
}

TEST(findings, restricted_cpus) {
  Facts facts = ideal();
  facts.cpus_allowed = facts.cores_allowed = 3;
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "restricted-cpus");
  EXPECT_THAT(finding.what, HasSubstr("3 of 16"));
}

TEST(findings, restricted_memory) {
  Facts facts = ideal();
  facts.limits.nodes_allowed = 1;
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "restricted-memory");
  EXPECT_THAT(finding.what, HasSubstr("1 of 4"));
}

TEST(findings, cpu_quota) {
  Facts facts = ideal();
  facts.limits.cpu_quota = 2.5;
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "cpu-quota");
  EXPECT_THAT(finding.what, HasSubstr("2.5"));
  EXPECT_THAT(finding.what, Not(HasSubstr("periods")));
  EXPECT_THAT(finding.what_to_do, HasSubstr("3 threads"));
  facts.limits.throttling = platform::Throttling{.periods = 27, .throttled = 24};
  EXPECT_THAT(only(facts).what, HasSubstr("used it up in 24 of 27 periods"));
  facts.limits.cpu_quota = 0.5;
  EXPECT_THAT(only(facts).what_to_do, HasSubstr("one thread"));
  facts.limits.cpu_quota = 16;
  EXPECT_TRUE(diagnose(facts).empty());
}

TEST(findings, odd_cgroup) {
  Facts facts = ideal();
  facts.limits.odd_cgroup = "/sys/fs/cgroup/x/cpu.max says \"often\"";
  EXPECT_EQ(only(facts).id, "odd-cgroup");
  EXPECT_THAT(only(facts).what, HasSubstr("cpu.max says \"often\""));
}

TEST(findings, oversubscription) {
  Facts facts = ideal();
  facts.limits.load = 4.0;
  facts.limits.runnable = 7;
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "oversubscription");
  EXPECT_THAT(finding.what, HasSubstr("4.0 threads"));
  EXPECT_THAT(finding.what, HasSubstr("7 do now"));
  facts.limits.load = 3.9;
  EXPECT_TRUE(diagnose(facts).empty());
}

TEST(findings, one_busy_program_on_a_small_machine_counts_less_than_one_does_not) {
  Facts facts = ideal();
  facts.cpus_present = facts.cpus_allowed = facts.cores_allowed = 2;
  facts.limits.load = 0.9;
  EXPECT_TRUE(diagnose(facts).empty());
  facts.limits.load = 1.0;
  EXPECT_EQ(only(facts).id, "oversubscription");
}

TEST(findings, memory_binding_refused) {
  Facts facts = ideal();
  facts.probes.bind_memory = "Operation not permitted";
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "no-memory-binding");
  EXPECT_THAT(finding.what, HasSubstr("Operation not permitted"));
}

TEST(findings, page_queries_refused) {
  Facts facts = ideal();
  facts.probes.locate_pages = "Operation not permitted";
  EXPECT_EQ(only(facts).id, "no-page-queries");
}

TEST(findings, numa_balancing_matters_with_several_domains) {
  Facts facts = ideal();
  facts.limits.numa_balancing = true;
  EXPECT_EQ(only(facts).id, "numa-balancing");
  facts.domains = 1;
  EXPECT_EQ(only(facts).id, "one-domain");
}

TEST(findings, smt) {
  Facts facts = ideal();
  facts.cores_allowed = 8;
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "smt");
  EXPECT_THAT(finding.what_to_do, HasSubstr("workers = 8"));
}

TEST(findings, huge_pages_off) {
  Facts facts = ideal();
  facts.limits.huge_pages = "never";
  EXPECT_EQ(only(facts).id, "no-huge-pages");
  facts.limits.huge_pages = "always";
  EXPECT_TRUE(diagnose(facts).empty());
}

TEST(findings, governor) {
  Facts facts = ideal();
  facts.limits.governor = "powersave";
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "governor");
  EXPECT_THAT(finding.what, HasSubstr("powersave"));
}

TEST(findings, virtual_machine) {
  Facts facts = ideal();
  facts.limits.virtual_machine = true;
  EXPECT_EQ(only(facts).id, "virtual-machine");
}

TEST(findings, counters_forbidden_and_counters_absent_have_different_remedies) {
  Facts facts = ideal();
  facts.probes.hardware_counters = "Permission denied";
  facts.limits.perf_event_paranoid = 4;
  EXPECT_EQ(only(facts).id, "no-hardware-counters");
  EXPECT_THAT(only(facts).what_to_do, HasSubstr("perf_event_paranoid=2 (it is 4)"));
  facts.probes.hardware_counters = "No such file or directory";
  facts.limits.perf_event_paranoid = 0;
  EXPECT_THAT(only(facts).what_to_do, HasSubstr("nothing to set"));
  EXPECT_THAT(only(facts).what_to_do, HasSubstr("numa-vm --meter"));
}

TEST(findings, a_program_that_is_not_installed_is_not_advised_without_where_to_get_it) {
  for (bool const is_here : {true, false}) {
    Facts facts = ideal();
    facts.has_numa_vm = is_here;
    facts.domains = 1;
    auto const says_where_it_is = [&] {
      return only(facts).what_to_do.find("Debian's package nigh-tools and a build from source have it.") !=
             std::string::npos;
    };
    EXPECT_EQ(says_where_it_is(), !is_here);
    facts.domains = 4;
    facts.probes.hardware_counters = "No such file or directory";
    EXPECT_EQ(says_where_it_is(), !is_here);
  }
}

TEST(findings, each_says_what_why_and_what_to_do) {
  Facts worst = ideal();
  worst.limits = {.cpu_quota = 0.5,
                  .throttling = {},
                  .odd_cgroup = "no",
                  .perf_event_paranoid = 3,
                  .numa_balancing = true,
                  .huge_pages = "never",
                  .governor = "powersave",
                  .load = 20.0,
                  .runnable = 9,
                  .nodes_with_memory = 4,
                  .nodes_allowed = 2,
                  .virtual_machine = true};
  worst.probes = {
      .hardware_counters = "no", .bind_memory = "no", .locate_pages = "no", .lockable_bytes = {}};
  worst.cpus_allowed = 8;
  worst.cores_allowed = 4;
  auto findings = diagnose(worst);
  EXPECT_EQ(findings.size(), 13U);
  for (auto const& finding : findings) {
    EXPECT_FALSE(finding.id.empty());
    EXPECT_TRUE(finding.what.ends_with('.')) << finding.what;
    EXPECT_TRUE(finding.why.ends_with('.')) << finding.why;
    EXPECT_FALSE(finding.what_to_do.empty());
  }
  auto names = ids(worst);
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end()) << "two share an id";
}

TEST(Findings, NamePoolsThatAreLeasedNoCpus) {
  auto facts = ideal();
  facts.pools = {"python3 (4711): OpenBLAS, numba", "polars (12): rayon"};
  auto const finding = only(facts);
  EXPECT_EQ(finding.id, "thread-pools");
  EXPECT_THAT(finding.what, HasSubstr("python3 (4711): OpenBLAS, numba; polars (12): rayon."));
}

}  // namespace
}  // namespace nigh::cli
