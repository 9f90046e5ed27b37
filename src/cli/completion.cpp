// SPDX-License-Identifier: Apache-2.0
// nigh completion: a script with which a shell completes nigh's commands, their options and the
// options' values, as CLI11 has them. Words behind `--` are a program's, which the shell completes.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands.hpp"

namespace nigh::cli {
namespace {

using Words = std::vector<std::string>;

struct Option {
  std::string name, description;
  bool has_value = false;
  Words values;  // the only ones, if known
};

struct Command {
  std::string path;  // "nigh profile show"
  Words commands;    // or known words that stand there
  std::vector<Option> options;
};

// Of options that mean the same in each command, whose values have a text of their own in help.
Words known_values(std::string const& option) {
  if (option == "bind" || option == "bind-ranks") return {"compact", "scatter"};
  if (option == "mem") return {"first-touch", "interleave", "bind:0", "preferred:0"};
  if (option == "schedule") return {"static", "dynamic", "guided", "adaptive", "local"};
  if (option == "spread") return {"all", "auto"};
  if (option == "adjust") return {"none", "without-clause", "all", "nests", "openblas", "blis"};
  if (option == "tasks")
    return {"auto", "off", "prefer", "strict", "prefer,data=depend", "strict,data=depend"};
  return {};
}

// Those that CLI11 writes behind a type, as in NAME:{one,other}; else those that are known.
Words values_in(std::string const& type, std::string const& option = "") {
  auto const begin = type.find('{'), end = type.find('}');
  if (begin == std::string::npos || end == std::string::npos || end < begin)
    return known_values(option);
  return CLI::detail::split(type.substr(begin + 1, end - begin - 1), ',');
}

void collect(CLI::App const& app, std::string const& path, std::vector<Command>& into) {
  Command found{path, {}, {}};
  for (auto const* option : app.get_options()) {
    if (option->get_positional()) found.commands = values_in(option->get_type_name());
    for (auto const& name : option->get_lnames())
      found.options.push_back({"--" + name, option->get_description(),
                               option->get_items_expected_max() > 0,
                               values_in(option->get_type_name(), name)});
  }
  auto const inner = app.get_subcommands([](CLI::App const*) { return true; });
  for (auto const* command : inner) found.commands.push_back(command->get_name());
  if (path == "nigh bench") found.commands = bench_names();
  if (path == "nigh sim") {
    found.commands = experiment_names();
    found.options.push_back({"--help", "Print this help message and exit", false, {}});
  }
  if (path == "nigh help") found.commands = into.front().commands;
  into.push_back(found);
  for (auto const* command : inner) collect(*command, path + ' ' + command->get_name(), into);
}

Words names(std::vector<Option> const& options) {
  Words all;
  for (auto const& option : options) all.push_back(option.name);
  return all;
}

// Three tables of words, by a command and by a command's option, for shells that have such.
std::string tables(std::vector<Command> const& commands, char const* declare) {
  std::string below, options, values;
  for (auto const& c : commands) {
    below += fmt::format("  ['{}']='{}'\n", c.path, fmt::join(c.commands, " "));
    options += fmt::format("  ['{}']='{}'\n", c.path, fmt::join(names(c.options), " "));
    for (auto const& o : c.options)
      if (!o.values.empty())
        values += fmt::format("  ['{} {}']='{}'\n", c.path, o.name, fmt::join(o.values, " "));
  }
  return fmt::format("{0} _nigh_commands=(\n{1})\n{0} _nigh_options=(\n{2})\n{0} _nigh_values=(\n{3})\n",
                     declare, below, options, values);
}

std::string for_bash(std::vector<Command> const& commands) {
  return "# bash: source <(nigh completion bash)\n" + tables(commands, "declare -gA") + R"(
_nigh() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command=nigh words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ ${COMP_WORDS[i]} == -- ]]; then
      compopt -o default 2>/dev/null
      COMPREPLY=()
      if ((i == COMP_CWORD - 1)); then mapfile -t COMPREPLY < <(compgen -c -- "$word"); fi
      return
    fi
    if [[ -n ${_nigh_options["$command ${COMP_WORDS[i]}"]-} ]]; then command+=" ${COMP_WORDS[i]}"; fi
  done
  words=${_nigh_values["$command $before"]-}
  if [[ -z $words && $word == -* ]]; then words=${_nigh_options[$command]-}; fi
  if [[ -z $words && $before != -* ]]; then words=${_nigh_commands[$command]-}; fi
  compopt -o default 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
}
complete -F _nigh nigh
)";
}

std::string for_zsh(std::vector<Command> const& commands) {
  return "#compdef nigh\n# zsh: source <(nigh completion zsh), or this as _nigh in a folder of fpath\n" +
         tables(commands, "typeset -gA") + R"(
_nigh() {
  local command=nigh key before found i
  for ((i = 2; i < CURRENT; i++)); do
    if [[ $words[i] == -- ]]; then
      shift $i words
      ((CURRENT -= i))
      _normal
      return
    fi
    key="$command $words[i]"
    if [[ -n ${_nigh_options[$key]} ]]; then command=$key; fi
  done
  before=${words[CURRENT-1]}
  key="$command $before"
  found=${_nigh_values[$key]}
  if [[ -z $found && ${words[CURRENT]} == -* ]]; then found=${_nigh_options[$command]}; fi
  if [[ -z $found && $before != -* ]]; then found=${_nigh_commands[$command]}; fi
  if [[ -n $found ]]; then compadd -- ${=found}; else _files; fi
}
if [[ $funcstack[1] == _nigh ]]; then _nigh "$@"; else compdef _nigh nigh; fi
)";
}

std::string quoted_for_fish(std::string const& text) {
  std::string quoted = "'";
  for (char const c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

std::string for_fish(std::vector<Command> const& commands) {
  std::string script = "# fish: nigh completion fish | source\n"
                       "function __nigh_command\n  set -l command nigh\n"
                       "  for word in (commandline -opc)[2..-1]\n    if test \"$word\" = --\n"
                       "      set command program\n      break\n    end\n    switch \"$command $word\"\n";
  for (auto const& c : commands)
    if (c.path != "nigh") script += fmt::format("      case '{0}'\n        set command '{0}'\n", c.path);
  script += "    end\n  end\n  test \"$command\" = \"$argv[1]\"\nend\n"
            "complete -c nigh -n '__nigh_command program; and test (commandline -opc)[-1] = --'"
            " -f -a '(__fish_complete_command)'\n";
  for (auto const& c : commands) {
    auto const here = fmt::format("complete -c nigh -n '__nigh_command \"{}\"'", c.path);
    if (!c.commands.empty())
      script += fmt::format("{} -f -a '{}'\n", here, fmt::join(c.commands, " "));
    for (auto const& o : c.options)
      script += fmt::format("{} -l {} {}{} -d {}\n", here, o.name.substr(2), o.has_value ? "-r" : "",
                            o.values.empty() ? "" : fmt::format(" -f -a '{}'", fmt::join(o.values, " ")),
                            quoted_for_fish(o.description));
  }
  return script;
}

}  // namespace

void add_completion(CLI::App& app) {
  auto* const command =
      app.add_subcommand("completion", "Print what a shell needs to complete nigh's words");
  auto const shell = std::make_shared<std::string>();
  command->add_option("SHELL", *shell, "Of which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->callback([&app, shell] {
    std::vector<Command> commands;
    collect(app, "nigh", commands);
    auto const script = *shell == "bash"  ? for_bash(commands)
                        : *shell == "zsh" ? for_zsh(commands)
                                          : for_fish(commands);
    std::fputs(script.c_str(), stdout);
  });
}

}  // namespace nigh::cli
