// SPDX-License-Identifier: Apache-2.0
// docs/cluster.md shows the variables.
#include "cluster/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <fstream>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "policy/stealing/chunk_size.hpp"
#include "policy/stealing/steal_order.hpp"

namespace nigh::cluster {
namespace {

constexpr std::size_t most = policy::largest_chunk;

// How many tasks a message may hold.
bool is_number(std::string_view text, std::size_t& number) {
  auto const* const end = text.data() + text.size();
  auto const [rest, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && rest == end && number > 0 && number <= most;
}

bool set_spares(session_options& options, std::string_view text) {
  auto const* const end = text.data() + text.size();
  auto const [rest, error] = std::from_chars(text.data(), end, options.spares);
  return error == std::errc{} && rest == end && options.spares >= 0;
}

struct Variable {
  char const* name;
  char const* meaning;  // the values it may have, for complaints
  bool (*set)(session_options&, std::string_view value);
};
constexpr Variable variables[] = {
    {"NIGH_CLUSTER_VICTIMS", "random, ring, hierarchical or lifelines", &set_victims},
    {"NIGH_CLUSTER_CHUNKS",
     "one, half, hierarchical, or fixed,N or hierarchical,N with a number of tasks N to 32",
     &set_chunks},
    {"NIGH_CLUSTER_SPARES", "a number of ranks", &set_spares},
};
static_assert(most == 32, "as the text says");

std::string refused(session_options& options) {
  for (auto const& v : variables) {
    char const* const value = std::getenv(v.name);
    if (value != nullptr && !v.set(options, value))
      return std::string(v.name) + "='" + value + "' is not " + v.meaning;
  }
  try {
    options.workers = options_from_environment(std::move(options.workers));
  } catch (std::invalid_argument const& e) {
    return e.what();
  }
  if (options.victims > victim_choice::hierarchical ||
      options.chunks > chunk_choice::hierarchical) {
    options.victims = victim_choice::hierarchical;  // names of these go to other ranks
    options.chunks = chunk_choice::hierarchical;
    return "session_options::victims or session_options::chunks is none of the choices";
  }
  if (options.queue_capacity == 0)
    return "session_options::queue_capacity is 0, not a number of tasks";
  if (options.spares < 0)
    return "session_options::spares is " + std::to_string(options.spares) +
           ", not a number of ranks";
  if (options.fixed_chunk == 0 || options.fixed_chunk > most)
    return "session_options::fixed_chunk is " + std::to_string(options.fixed_chunk) +
           ", not a number of tasks from 1 to " + std::to_string(most);
  return {};
}

void read_switches(Settings& settings) {
  constexpr std::size_t most_bytes = 16U << 20;  // the ranks send it to one another
  auto const& name = settings.options.switches;
  std::ifstream file(name);
  std::string text(most_bytes + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (!file.is_open() || file.bad())
    settings.complaint = "cannot read switches from " + name;
  else if (text.empty())
    settings.complaint = "no switches in " + name + ", which is empty";
  else if (text.size() > most_bytes)
    settings.complaint = "no switches in " + name + ", which is larger than 16 MiB";
  else
    settings.switches = std::string(text);  // not all of that room
}

}  // namespace

bool set_victims(session_options& options, std::string_view words) {
  bool const lifelines = words == "lifelines";
  auto const victims = lifelines ? victim_choice::random : policy::victim_choice_from_string(words);
  if (!victims) return false;
  options.victims = *victims;
  options.lifelines = lifelines;
  return true;
}

bool set_chunks(session_options& options, std::string_view words) {
  auto const comma = words.find(',');
  auto const how = words.substr(0, comma);
  bool const is_fixed = how == "fixed";
  auto const chunks = is_fixed ? chunk_choice::one : policy::chunk_choice_from_string(how);
  if (!chunks) return false;
  std::size_t number = 1;
  if (comma != words.npos) {
    bool const may_have_number = is_fixed || *chunks == chunk_choice::hierarchical;
    if (!may_have_number || !is_number(words.substr(comma + 1), number)) return false;
  } else if (is_fixed) {
    return false;
  }
  options.chunks = *chunks;
  options.fixed_chunk = number;
  return true;
}

std::string victims_of(session_options const& options) {
  std::string const victims(policy::to_string(options.victims));
  if (!options.lifelines) return victims;
  return options.victims == victim_choice::random ? "lifelines" : victims + " with lifelines";
}

std::string chunks_of(session_options const& options) {
  auto const number =
      options.fixed_chunk == 1 ? std::string() : ',' + std::to_string(options.fixed_chunk);
  switch (options.chunks) {
    case chunk_choice::one:
      return number.empty() ? "one" : "fixed" + number;
    case chunk_choice::half:
      return "half";
    case chunk_choice::hierarchical:
      break;
  }
  return "hierarchical" + number;
}

Settings settings_from_environment(session_options options, int rank) {
  Settings settings{std::move(options), {}, {}};
  settings.complaint = refused(settings.options);
  if (char const* const file = std::getenv("NIGH_SWITCHES")) settings.options.switches = file;
  if (rank == 0 && settings.complaint.empty() && !settings.options.switches.empty())
    read_switches(settings);
  return settings;
}

}  // namespace nigh::cluster
