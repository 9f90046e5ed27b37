// SPDX-License-Identifier: Apache-2.0
#include "bench/options.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <sstream>

#include "base/counted.hpp"
#include "base/help_format.hpp"
#include "base/option_words.hpp"
#include "workloads/size_text.hpp"

namespace bench {

namespace {

constexpr int failed = 1;
constexpr int bad_input = 2;

int complain(std::string const& program, std::string message, int code) {
  while (!message.empty() && message.back() == '\n') message.pop_back();
  for (char& c : message)
    if (c == '\n') c = ' ';
  std::fflush(stdout);
  std::fprintf(stderr, "%s: %s\n", program.c_str(), message.c_str());
  return code;
}

// The complaint about the first word that CLI11 could not use; empty where it has used all.
std::string unknown_word(CLI::App const& app) {
  auto const words = app.remaining();
  if (words.empty()) return {};
  auto const listed = app.get_name() + " --help lists them";
  return nigh::base::is_option(words.front()) ? nigh::base::no_option(app, words.front(), listed)
                                              : "'" + words.front() + "' is no option; " + listed;
}

// A command of nigh as it is, and another program as its file is called.
std::string as_typed(std::string const& name, int argc, char** argv) {
  bool const is_command = name.find(' ') != std::string::npos;
  if (is_command || argc == 0) return name;
  return std::filesystem::path(argv[0]).filename().string();
}

}  // namespace

int run_program(std::string const& name, std::string const& description, int argc, char** argv,
                std::function<void(CLI::App&)> const& declare, std::function<void()> const& body) {
  auto const program = as_typed(name, argc, argv);
  CLI::App app{description};
  app.name(program);
  app.formatter(std::make_shared<nigh::base::HelpFormat>());
  declare(app);
  try {
    app.parse(argc, argv);
  } catch (CLI::ParseError const& e) {
    if (e.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) {
      if (nigh::base::print_help(app, e)) return 0;
      return complain(program, std::string("cannot write standard output: ") + std::strerror(errno),
                      bad_input);
    }
    auto const unknown = unknown_word(app);
    return complain(program, unknown.empty() ? e.what() : unknown, bad_input);
  }
  try {
    body();
  } catch (UsageError const& e) {
    return complain(program, e.what(), bad_input);
  } catch (std::bad_alloc const& e) {
    return complain(program, e.what(), bad_input);
  } catch (std::exception const& e) {
    return complain(program, e.what(), failed);
  }
  return 0;
}

void restart_with_openmp_settings(char** argv) {
  constexpr char const* done = "NIGH_BENCH_RESTARTED";
  if (std::getenv(done) != nullptr) return;
  setenv(done, "1", 1);
  setenv("OMP_DYNAMIC", "false", 0);
  setenv("GOMP_SPINCOUNT", "100000", 0);  // libgomp's own default is 300,000
  setenv("KMP_BLOCKTIME", "1", 0);        // ms; libomp's default is 200
  for (char const* ours : {"OMP_PROC_BIND", "OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY",
                           "OMP_WAIT_POLICY", "OMP_SCHEDULE"})
    unsetenv(ours);
  execv("/proc/self/exe", argv);  // on failure: go on with the settings there are
}

void allow_deep_stacks() {
  constexpr rlim_t wanted = rlim_t{1} << 30;
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) != 0) return;
  if (stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur < wanted) {
    // Not unlimited either: that would lay out the address space differently.
    stack.rlim_cur = stack.rlim_max == RLIM_INFINITY ? wanted : std::min(wanted, stack.rlim_max);
    setrlimit(RLIMIT_STACK, &stack);
  }
  setenv("OMP_STACKSIZE", "1G", 0);
}

std::vector<int> cpus_for(long threads, nigh::topology const& machine) {
  std::vector<int> cpus = machine.order(nigh::cpu_order::compact, nigh::level::domain);
  if (threads < 1)
    throw UsageError("--threads: " + std::to_string(threads) + " is not a positive number");
  if (threads > static_cast<long>(cpus.size()))
    throw UsageError("--threads: " + std::to_string(threads) + " threads need a cpu each, and " +
                     nigh::base::counted(cpus.size(), "cpu") +
                     (cpus.size() == 1 ? " is allowed" : " are allowed"));
  cpus.resize(static_cast<std::size_t>(threads));
  return cpus;
}

std::vector<int> parse_cpu_list(std::string const& argument, std::string const& text) {
  auto const wrong = [&] {
    return UsageError(argument + ": \"" + text + "\" is not a list of cpus such as 0-2,5");
  };
  std::vector<int> cpus;
  char const* at = text.data();
  char const* const end = at + text.size();
  auto const number = [&] {
    int n = -1;
    auto const [next, error] = std::from_chars(at, end, n);
    if (error != std::errc() || n < 0 || n > 1 << 20) throw wrong();
    at = next;
    return n;
  };
  for (;;) {
    int const first = number();
    int last = first;
    if (at != end && *at == '-') {
      ++at;
      last = number();
    }
    if (last < first) throw wrong();
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at == end) return cpus;
    if (*at++ != ',') throw wrong();
  }
}

void refuse(std::string const& argument, std::string const& word, std::string const& why) {
  throw UsageError(argument + ": \"" + word + "\" " + why);
}

long in_range(std::string const& argument, long value, long least, long most) {
  if (value >= least && value <= most) return value;
  throw UsageError(
      fmt::format("{}: {} is not a number from {} to {}", argument, value, least, most));
}

long number_or(std::string const& argument, std::optional<long> given, long otherwise, long most) {
  return given ? in_range(argument, *given, 1, most) : otherwise;
}

std::vector<std::string> words_of(std::string const& argument, std::string const& list) {
  std::vector<std::string> words;
  std::istringstream in(list + ',');
  for (std::string word; std::getline(in, word, ',');) {
    if (word.empty()) refuse(argument, list, "has nothing between two commas");
    words.push_back(word);
  }
  return words;
}

std::vector<int> numbers(std::string const& argument, std::string const& list, int most) {
  auto values = each<int>(argument, list, [&](auto const&, std::string const& word) {
    try {
      return static_cast<int>(workloads::number(word, 1, most));
    } catch (std::invalid_argument const& e) {
      throw UsageError(argument + ": " + e.what());
    }
  });
  std::sort(values.begin(), values.end());
  return values;
}

std::vector<int> doubling_to(int most) {
  std::vector<int> list;
  for (int t = 1; t < most; t *= 2) list.push_back(t);
  list.push_back(most);
  return list;
}

nigh::topology live_machine() {
  nigh::result<nigh::topology> live = nigh::topology::live();
  if (!live) throw std::runtime_error(live.message());
  return std::move(live).value();
}

}  // namespace bench
