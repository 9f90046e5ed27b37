// SPDX-License-Identifier: Apache-2.0
// The public calls about checkpoints.

#include <nigh/cluster_checkpoint.hpp>
#include <stdexcept>
#include <string>
#include <utility>

#include "cluster/agent.hpp"
#include "cluster/checkpoint_call.hpp"

namespace nigh::cluster {
namespace {

constexpr std::size_t longest_name = 255;

std::string in_words(std::string_view name) {
  auto const shown = name.substr(0, 40);
  return "checkpoint \"" + std::string(shown) + (shown.size() < name.size() ? "...\"" : "\"");
}

void check_name(std::string_view name) {
  if (name.size() > longest_name)
    throw std::length_error(in_words(name) + ": a name of " + std::to_string(name.size()) +
                            " bytes; at most " + std::to_string(longest_name));
}

void carry_out(CheckpointCall& call) {
  auto* const here = agent.get();
  auto* const worker = nigh::detail::this_stack->worker;
  if (here == nullptr || worker == nullptr || !here->is_of(worker->pool) ||
      (!here->is_in_run() && !here->has_leftovers()))
    throw std::logic_error(in_words(call.name) + ": called outside the tasks of a session");
  call.caller = worker;
  here->checkpoint(call);
}

}  // namespace

namespace detail {

void check_checkpoint(std::string_view name, std::size_t value_bytes) {
  check_name(name);
  if (value_bytes > largest_input)
    throw std::length_error(in_words(name) + ": " + std::to_string(value_bytes) +
                            " bytes; at most " + std::to_string(largest_input));
}

void keep_checkpoint(std::string_view name, std::int64_t step, bytes content) {
  CheckpointCall call{CheckpointCall::What::keep,
                      std::string(name),
                      {step, std::make_shared<bytes const>(std::move(content))}};
  carry_out(call);
}

found_checkpoint find_checkpoint(std::string_view name) {
  check_name(name);
  CheckpointCall call{CheckpointCall::What::find, std::string(name)};
  carry_out(call);
  return {call.of.step, std::move(call.of.content)};
}

void refuse_checkpoint(std::string_view name) {
  throw std::logic_error(in_words(name) + " is a value of another type");
}

}  // namespace detail

void forget_checkpoint(std::string_view name) {
  check_name(name);
  CheckpointCall call{CheckpointCall::What::forget, std::string(name)};
  carry_out(call);
}

}  // namespace nigh::cluster
