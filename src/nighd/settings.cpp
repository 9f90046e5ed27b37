// SPDX-License-Identifier: Apache-2.0
#include "nighd/settings.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <nigh/version.hpp>
#include <string>
#include <vector>

#include "base/help_format.hpp"
#include "base/option_words.hpp"
#include "base/printable.hpp"

namespace nigh::nighd {
namespace {

constexpr int bad_input = 2;

}  // namespace

ReadSettings read_settings(int argc, char** argv) {
  Settings s;
  std::string policy(to_string(s.policy));
  std::string socket, metrics, profiles;
  CLI::App app{"nighd hands out this host's cpus to parallel programs"};
  app.name("nighd");
  app.formatter(std::make_shared<base::HelpFormat>());
  app.set_version_flag("--version", std::string("nighd ") + nigh::version());
  app.add_option(
         "--socket", socket,
         "Where programs connect; $NIGH_SOCKET, or nigh/nighd.sock in the user's runtime directory")
      ->type_name("PATH");
  app.add_option("--idle-exit", s.idle_exit_s,
                 "Leave after so long without a program, 60; 0: never")
      ->type_name("SECONDS")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{86'400 * 365}));
  app.add_option("--policy", policy,
                 "Which cpus a region gets: simple, nearest, clustered, clustered-adjusting")
      ->type_name("NAME")
      ->check(CLI::IsMember(std::vector<std::string>(policy::core_allocation_names.begin(),
                                                     policy::core_allocation_names.end())));
  app.add_option("--slice", s.slice_ms,
                 "A program may keep its cpus for so long before others get them, 50")
      ->type_name("MILLISECONDS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{3'600'000}));
  app.add_option("--overdue", s.overdue_ms,
                 "Who does not give cpus back within this time loses them, 10000")
      ->type_name("MILLISECONDS")
      ->check(CLI::Range(std::int64_t{1}, std::int64_t{3'600'000}));
  app.add_option("--metrics", metrics, "Numbers for Prometheus, at this socket (HTTP)")
      ->type_name("PATH");
  auto* const keeps = app.add_option(
      "--profiles", profiles,
      "Keep what is learnt about programs in this directory; $NIGH_PROFILES, or nigh/profiles in "
      "the user's state directory; none: keep nothing");
  keeps->type_name("PATH")->check([](std::string const& path) {
    return path.empty() ? std::string("is empty") : std::string();
  });
  app.add_flag("--any-user", s.any_user, "Serve all users who may connect, not only one's own");
  app.add_option("--programs-per-user", s.programs_per_user,
                 "At most, at a time; with --any-user at most half of what others leave, too")
      ->type_name("N")
      ->check(CLI::Range(1, 16'384));
  app.add_flag("--if-none", s.if_none, "Leave with status 0 where another serves already");
  app.add_flag("--foreground", s.foreground, "Stay in the foreground, and log to standard error");
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      if (base::print_help(app, e)) return {{}, 0};
      std::fprintf(stderr, "nighd: cannot write standard output: %s\n", std::strerror(errno));
      return {{}, bad_input};
    }
    std::string message = e.what();
    if (auto const words = app.remaining(); !words.empty() && base::is_option(words.front()))
      message = base::no_option(app, words.front(), "nighd --help lists them");
    for (char& c : message)
      if (c == '\n') c = ' ';
    std::fprintf(stderr, "nighd: %s\n", base::printable(message).c_str());
    return {{}, bad_input};
  }
  s.socket = socket;
  s.metrics = metrics;
  if (keeps->count() > 0) s.profiles = profiles == "none" ? "" : profiles;
  s.policy = *policy::core_allocation_from_string(policy);
  return {s, 0};
}

}  // namespace nigh::nighd
