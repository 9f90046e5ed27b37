// SPDX-License-Identifier: Apache-2.0
#include "cli/tune/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/counted.hpp"
#include "cli/run/profile.hpp"

namespace nigh::cli {
namespace {

std::size_t at(int candidate) { return static_cast<std::size_t>(candidate); }

std::string line(Outcome const& found, tune::Standing const& s, std::size_t rank,
                 std::size_t width) {
  auto const unit = found.metric.unit();
  auto const with_unit = [&](double cost) {
    return fmt::format("{:.4g}{}{}", found.metric.value_of_cost(cost), unit.empty() ? "" : " ",
                       unit);
  };
  auto const name = name_of(found.space, s.candidate);
  if (found.search.measured()[at(s.candidate)].lost)
    return fmt::format("{:>4}  {:{}}  {:>12}\n", rank, name, width, "over " + with_unit(s.cost));
  auto low = found.metric.value_of_cost(s.low), high = found.metric.value_of_cost(s.high);
  if (low > high) std::swap(low, high);
  return fmt::format("{:>4}  {:{}}  {:>12}  {:>19}  {:>4}  {:>5.0f}%\n", rank, name, width,
                     with_unit(s.cost), fmt::format("{:.4g} .. {:.4g}", low, high), s.runs,
                     100 * s.chance);
}

// Which configuration is used, how much better it is than the program as it is, and how sure that
// is.
std::string verdict(Outcome const& found) {
  auto const choice = found.choice();
  auto const& plain = found.space.as_it_is;
  constexpr auto single = "from single runs, which is not sure: more --repetitions, or a longer "
                          "--budget, would tell";
  // Among those that beat the program as it is, not whether they do.
  std::string const rivals =
      choice.ties == 0
          ? std::string()
          : fmt::format("Which of the best and {} is really the best is not sure: {} within its "
                        "spread.\n",
                        base::counted(choice.ties, "other"),
                        choice.ties == 1 ? "that one is" : "they are");
  if (choice.leader == 0)
    return fmt::format("Nothing that was tried beats {}{}.\n", plain,
                       choice.is_repeated ? "" : fmt::format(", {}", single));
  if (!found.search.measured().front().known()) return rivals;
  if (choice.is_tie)
    return fmt::format(
        "No configuration is reliably better than {} "
        "(the best by {:.1f}%, with a chance of {:.0f}%{}): a tie, which {} wins.\n",
        plain, 100 * (choice.times - 1), 100 * choice.chance,
        choice.is_repeated ? "" : fmt::format(", {}", single), plain);
  if (!choice.is_repeated)
    return fmt::format("The best looks {:.2f} times as good as {}, {}.\n", choice.times, plain,
                       single) +
           rivals;
  if (found.is_disturbed())
    return fmt::format("The best was {:.2f} times as good as {}, which is not sure, because "
                       "others kept the machine busy.\n",
                       choice.times, plain) +
           rivals;
  return fmt::format("The best is {:.2f} times as good as {}; that it is better is sure to {:.0f}%.\n",
                     choice.times, plain, std::min(99.0, 100 * choice.chance)) +
         rivals;
}

std::string quoted_failures(Outcome const& found) {
  std::string text;
  for (std::size_t i = 0; i < found.failures.size(); ++i)
    if (!found.failures[i].empty())
      text += fmt::format("out: {}: {}\n", name_of(found.space, static_cast<int>(i)),
                          found.failures[i]);
  return text;
}

}  // namespace

std::string ranking_text(Outcome const& found) {
  auto const table = found.search.standings();
  std::size_t width = std::string("configuration").size();
  for (auto const& s : table) width = std::max(width, name_of(found.space, s.candidate).size());
  auto const metric = found.metric.is_time() ? std::string("time") : std::string("value");
  auto text = fmt::format("{:>4}  {:{}}  {:>12}  {:>19}  {:>4}  {:>6}\n", "rank", "configuration",
                          width, metric, "95% interval", "runs", "chance");
  for (std::size_t i = 0; i < table.size(); ++i) text += line(found, table[i], i + 1, width);
  text += quoted_failures(found);
  text += fmt::format("{} configurations, {} runs in {:.0f} s", found.space.requests.size(),
                      found.search.runs(), found.seconds);
  if (found.search.passed_over() > 0)
    text += fmt::format("; {} passed over, which promise too little", found.search.passed_over());
  text += found.ended.empty() ? "\n" : "; " + found.ended + "\n";
  return table.empty() ? text : text + verdict(found);
}

std::string results_json(Outcome const& found, std::string const& program,
                         topology const& machine) {
  auto const shape = shape_of(machine).levels;
  std::string lines;
  for (auto const& s : found.search.standings()) {
    auto const& request = found.space.requests[at(s.candidate)];
    std::vector<double> samples;
    for (double const cost : found.search.measured()[at(s.candidate)].costs)
      samples.push_back(found.metric.value_of_cost(cost));
    nlohmann::ordered_json json;
    json["bench"] = "tune";
    json["variant"] = name_of(found.space, s.candidate);
    auto& params = json["params"] = nlohmann::ordered_json::object();
    if (!found.space.ranks.empty()) {
      auto const& ranks = found.space.ranks[at(s.candidate)];
      params["ranks"] = ranks.per_host;
      if (ranks.order) params["bind_ranks"] = to_string(Binding{*ranks.order});
      if (ranks.order) params["smt"] = ranks.smt ? 1 : 0;
      if (ranks.order) params["cores_off"] = ranks.cores_off;
    }
    if (request.threads > 0) params["threads"] = request.threads;
    if (request.bind) params["bind"] = to_string(*request.bind);
    if (request.memory) params["mem"] = to_string(*request.memory);
    if (request.schedule) params["schedule"] = to_string(*request.schedule);
    json["metric"] = found.metric.name();
    json["unit"] = found.metric.unit();
    json["median"] = tune::median(samples);
    json["undisturbed"] = found.metric.value_of_cost(s.cost);
    json["min"] = *std::min_element(samples.begin(), samples.end());
    json["max"] = *std::max_element(samples.begin(), samples.end());
    json["samples"] = samples;
    auto low = found.metric.value_of_cost(s.low), high = found.metric.value_of_cost(s.high);
    if (low > high) std::swap(low, high);
    json["interval"] = {low, high};
    json["chance"] = s.chance;
    if (found.search.measured()[at(s.candidate)].lost) json["cut_short"] = true;
    auto& run = json["run"] = {
        {"program", program}, {"machine", machine.description()}, {"topology", shape}};
    if (found.others_cpus) run["others_cpus"] = *found.others_cpus;
    lines += json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + '\n';
  }
  return lines;
}

}  // namespace nigh::cli
