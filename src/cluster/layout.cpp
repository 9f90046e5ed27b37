// SPDX-License-Identifier: Apache-2.0
#include "cluster/layout.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sstream>
#include <utility>

#include "cluster/functions.hpp"
#include "cluster/wire.hpp"
#include "platform/network.hpp"
#include "platform/system_name.hpp"

namespace nigh::cluster {
namespace {

void put_text(Writer& to, std::string_view text) {
  to.put(std::uint64_t{text.size()});
  to.put(std::as_bytes(std::span(text)));
}
std::string get_text(Reader& from) {
  auto const n = static_cast<std::size_t>(from.get<std::uint64_t>());
  auto const raw = from.get(n);
  return {reinterpret_cast<char const*>(raw.data()), raw.size()};
}

// The settings that must be the same everywhere, in the order in which differences are reported.
std::vector<std::string> terms(session_options const& o) {
  return {"messages are of version " + std::to_string(wire_version),
          "victims are " + victims_of(o),
          "chunks are " + chunks_of(o),
          "queue_capacity is " + std::to_string(o.queue_capacity),
          "spares are " + std::to_string(o.spares),
          o.shared_window ? "shared_window is on" : "shared_window is off",
          o.supervised ? "tasks are supervised" : "tasks are not supervised"};
}

bytes hello(Place const& place, Settings const& settings, std::string const& functions) {
  Writer w;
  put_text(w, settings.complaint);
  put_text(w, settings.switches);
  for (auto const& term : terms(settings.options)) put_text(w, term);
  put_text(w, functions);
  put_text(w, place.host);
  put_text(w, place.kernel);
  put_text(w, place.switch_name);
  w.put(std::int64_t{place.domain});
  w.put(std::uint64_t{place.cpus.size()});
  for (int const cpu : place.cpus) w.put(std::int64_t{cpu});
  w.put(std::int64_t{place.workers});
  return w.take();
}

struct Hello {
  std::string complaint;
  std::string switches;
  std::vector<std::string> terms;
  std::string functions;
  Place place;
};

Hello read_hello(byte_view message, std::size_t term_count) {
  Reader r(message);
  Hello h;
  h.complaint = get_text(r);
  h.switches = get_text(r);
  for (std::size_t i = 0; i < term_count; ++i) h.terms.push_back(get_text(r));
  h.functions = get_text(r);
  h.place.host = get_text(r);
  h.place.kernel = get_text(r);
  h.place.switch_name = get_text(r);
  h.place.domain = static_cast<int>(r.get<std::int64_t>());
  auto const cpus = r.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < cpus; ++i)
    h.place.cpus.push_back(static_cast<int>(r.get<std::int64_t>()));
  h.place.workers = static_cast<int>(r.get<std::int64_t>());
  return h;
}

// Why `there` does not fit `here`; empty if it does.
std::string misfit(Hello const& here, Hello const& there, std::string const& who_here,
                   std::string const& who_there) {
  for (std::size_t i = 0; i < here.terms.size(); ++i)
    if (here.terms[i] != there.terms[i])
      return "on " + who_here + " " + here.terms[i] + ", on " + who_there + " " + there.terms[i];
  if (here.functions == there.functions) return {};
  auto const d = first_difference(here.functions, there.functions);
  auto const& has_it = d.in_first ? who_here : who_there;
  auto const& lacks_it = d.in_first ? who_there : who_here;
  std::string const differ = "the ranks run different programs: ";
  if (d.name == free_line)
    return differ + "on " + has_it + " " + d.name + ", on " + lacks_it + " none are";
  if (d.only_in_size)
    return differ + "what " + readable_name(d.name) +
           " takes or returns has not the same size on " + has_it + " and " + lacks_it;
  return differ + lacks_it + " does not know the task function " + readable_name(d.name) + " of " +
         has_it;
}

// Beyond the host policies know one level; ranks at the same switch are the nearer of it.
policy::Reach reach_between(Place const& a, Place const& b) {
  bool const share_switch = !a.switch_name.empty() && a.switch_name == b.switch_name;
  if (a.host != b.host) return {level::cluster, share_switch ? 0.0 : 1.0};
  return {a.domain >= 0 && a.domain == b.domain ? level::domain : level::host, 0};
}

}  // namespace

std::string Layout::who(int rank) const {
  return "rank " + std::to_string(rank) + " on " + places[static_cast<std::size_t>(rank)].host;
}

policy::VictimPlan plan_among_ranks(Layout const& layout) {
  std::vector<policy::Reach> to;
  auto const& here = layout.places[static_cast<std::size_t>(layout.self)];
  for (auto const& place : layout.places) to.push_back(reach_between(here, place));
  return policy::victim_plan(layout.self, to);
}

std::vector<int> share_of_cpus(Layout const& layout) {
  auto const& mine = layout.places[static_cast<std::size_t>(layout.self)];
  std::size_t before = 0, sharers = 0;
  for (std::size_t r = 0; r < layout.places.size(); ++r) {
    auto const& other = layout.places[r];
    if (other.kernel != mine.kernel || other.cpus != mine.cpus) continue;
    ++sharers;
    if (r < static_cast<std::size_t>(layout.self)) ++before;
  }
  auto const n = mine.cpus.size();
  if (n == 0) return {};
  if (n < sharers) return {mine.cpus[before % n]};
  auto const at = [&](std::size_t i) {
    return mine.cpus.begin() + static_cast<std::ptrdiff_t>(i * n / sharers);
  };
  return {at(before), at(before + 1)};
}

std::string crowd_in(Layout const& layout) {
  struct Machine {
    std::set<int> cpus;
    std::size_t ranks = 0, workers = 0;
    std::string host;
  };
  std::map<std::string, Machine> machines;  // by kernel
  for (Layout at = layout; auto const& place : layout.places) {
    auto& m = machines[place.kernel];
    at.self = static_cast<int>(&place - layout.places.data());
    m.cpus.insert(place.cpus.begin(), place.cpus.end());
    m.workers +=
        place.workers > 0 ? static_cast<std::size_t>(place.workers) : share_of_cpus(at).size();
    if (m.ranks++ == 0) m.host = place.host;
  }
  for (auto const& place : layout.places) {
    auto const& m = machines[place.kernel];
    if (m.workers > m.cpus.size())
      return std::to_string(m.workers) + " workers of " + std::to_string(m.ranks) +
             (m.ranks == 1 ? " rank on " : " ranks on ") + std::to_string(m.cpus.size()) +
             " cpus of " + m.host + ": they take turns";
  }
  return {};
}

Place this_place(runtime_options const& workers) {
  auto const& machine = workers.machine != nullptr ? *workers.machine : this_host();
  Place place{platform::host_name(), platform::kernel_id(), -1, workers.cpus,
              switch_from_slurm(std::getenv("SLURM_TOPOLOGY_ADDR"),
                                std::getenv("SLURM_TOPOLOGY_ADDR_PATTERN"))};
  place.workers = workers.workers > 0 ? workers.workers : static_cast<int>(workers.cpus.size());
  if (place.cpus.empty()) place.cpus = machine.order(workers.order, workers.order_level);
  for (int const cpu : place.cpus) {
    int const domain = machine.domain_of_cpu(cpu);
    if (cpu == place.cpus.front()) place.domain = domain;
    if (domain != place.domain) return place.domain = -1, place;
  }
  return place;
}

Layout meet(Transport& network, Place const& mine, Settings const& settings,
            std::string const& functions) {
  auto const all = network.gather(hello(mine, settings, functions));
  auto const term_count = terms(settings.options).size();
  std::vector<Hello> hellos;
  Layout layout{network.rank(), {}};
  for (auto const& message : all) {
    hellos.push_back(read_hello(message, term_count));
    layout.places.push_back(hellos.back().place);
  }
  auto const refuse = [&](std::string const& why) {
    if (layout.self == 0) std::fprintf(stderr, "nigh: %s\n", why.c_str());
    network.finish();
    std::exit(2);
  };
  for (std::size_t r = 0; r < hellos.size(); ++r) {
    auto const who = layout.who(static_cast<int>(r));
    if (!hellos[r].complaint.empty()) refuse("on " + who + ": " + hellos[r].complaint);
    auto const text = misfit(hellos[0], hellos[r], layout.who(0), who);
    if (!text.empty()) refuse(text);
  }
  if (auto const ranks = network.ranks(); settings.options.spares >= ranks)
    refuse(std::to_string(settings.options.spares) + " spare of " + std::to_string(ranks) +
           (ranks == 1 ? " rank" : " ranks") + ": at least one must work");
  if (hellos[0].switches.empty()) return layout;
  if (auto const taken = take_switches(layout, hellos[0].switches); !taken)
    refuse(settings.options.switches + ": " + taken.message());
  return layout;
}

namespace {

std::vector<std::string_view> parts_of(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  for (auto at = text.find(between); at != text.npos; at = text.find(between)) {
    parts.push_back(text.substr(0, at));
    text.remove_prefix(at + 1);
  }
  parts.push_back(text);
  return parts;
}

std::vector<std::string> words_of(std::string_view line) {
  std::istringstream in{std::string(line.substr(0, line.find('#')))};
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  return words;
}

std::string without_domain(std::string const& host) { return host.substr(0, host.find('.')); }

}  // namespace

std::string switch_from_slurm(char const* address, char const* pattern) {
  if (address == nullptr || pattern == nullptr) return {};
  auto const names = parts_of(address, '.'), kinds = parts_of(pattern, '.');
  if (names.size() < 2 || names.size() != kinds.size() || kinds.back() != "node") return {};
  return std::string(names[names.size() - 2]);
}

result<void> take_switches(Layout& layout, std::string_view text) {
  std::map<std::string, std::string> switch_of;  // [host]
  int number = 0;
  for (auto const line : parts_of(text, '\n')) {
    ++number;
    auto const words = words_of(line);
    if (words.empty()) continue;
    auto const where = "line " + std::to_string(number);
    if (words.size() != 2) return error{where + " is not a host's name and its switch's"};
    if (!switch_of.emplace(words[0], words[1]).second)
      return error{where + " names " + words[0] + " again"};
  }
  for (auto& place : layout.places) {
    auto at = switch_of.find(place.host);
    if (at == switch_of.end()) at = switch_of.find(without_domain(place.host));
    place.switch_name = at != switch_of.end() ? at->second : std::string();
  }
  return {};
}

}  // namespace nigh::cluster
