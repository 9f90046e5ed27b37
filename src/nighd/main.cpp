// SPDX-License-Identifier: Apache-2.0
// nighd: the coordinator as a program. It makes sure that it is the only one at its socket, and
// serves.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <fstream>
#include <nigh/topology.hpp>
#include <numeric>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/printable.hpp"
#include "coordinator/profile/profile_files.hpp"
#include "coordinator/server/server.hpp"
#include "nighd/log.hpp"
#include "nighd/profiles.hpp"
#include "nighd/settings.hpp"
#include "platform/affinity.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "platform/own_path.hpp"
#include "platform/owned_file.hpp"
#include "platform/program.hpp"
#include "platform/service.hpp"
#include "platform/unknown_variables.hpp"

namespace {

using namespace nigh;
using nigh::nighd::Log;
using nigh::nighd::Settings;

constexpr int bad_input = 2, refused = 1;
constexpr std::chrono::seconds last_lines_within{1};

// Why nighd ends before it has begun. Status 0 is no failure.
struct CannotServe {
  std::string why;
  int status = refused;
};

template <class T>
T wanted(result<T> got, std::string const& what = {}, int status = refused) {
  if (!got) throw CannotServe{what + got.message(), status};
  if constexpr (!std::is_void_v<T>) return std::move(got).value();
}

struct Sockets {
  std::optional<platform::OwnedFile> lock;  // ours as long as we serve here
  std::filesystem::path path;               // empty: the service manager's
  platform::SocketFile file;
  int listener = -1;
};

std::vector<int> all_cpus() {
  std::vector<int> cpus(coordinator::max_cpus);
  std::iota(cpus.begin(), cpus.end(), 0);
  return cpus;
}

std::filesystem::path socket_path(Settings const& settings) {
  if (!settings.socket.empty()) return std::filesystem::absolute(settings.socket);
  if (char const* const told = std::getenv("NIGH_SOCKET"); told != nullptr && *told != '\0')
    return std::filesystem::absolute(told);
  return platform::private_directory() / "nighd.sock";
}

// Empty: no profiles are kept.
std::filesystem::path profile_directory(Settings const& settings) {
  if (settings.profiles)
    return settings.profiles->empty() ? *settings.profiles
                                      : std::filesystem::absolute(*settings.profiles);
  return settings.any_user ? coordinator::shared_profiles() : coordinator::own_profiles();
}

bool answers(std::filesystem::path const& socket) {
  int const connection = platform::connect_local(socket.c_str());
  if (connection >= 0) platform::close_descriptor(connection);
  return connection >= 0;
}

// A nighd that has only just begun takes its lock before it listens.
bool is_served(std::filesystem::path const& socket) {
  constexpr auto patience = std::chrono::seconds(5);
  constexpr auto pause = std::chrono::milliseconds(10);
  for (auto const begin = std::chrono::steady_clock::now();
       std::chrono::steady_clock::now() - begin < patience; std::this_thread::sleep_for(pause))
    if (answers(socket)) return true;
  return false;
}

// A file of somebody else's may be called so (poetry.lock).
bool is_no_lock(std::filesystem::path const& file) {
  std::error_code unknown;
  if (std::filesystem::symlink_status(file, unknown).type() != std::filesystem::file_type::regular)
    return false;  // the lock itself refuses the others
  std::ifstream in(file);
  std::string text;
  in >> text;
  return text.find_first_not_of("0123456789") != text.npos;
}

CannotServe held_by_another(std::filesystem::path const& socket, std::string const& lock,
                            bool if_none) {
  auto const holder = platform::OwnedFile::holder_of(lock);
  auto const who = holder
                       ? "process " + std::to_string(holder->process) + " of user " + holder->user
                       : std::string("another process");
  if (is_served(socket)) return {who + " serves " + socket.string(), if_none ? 0 : refused};
  return {who + " holds " + lock + ", but nothing answers at " + socket.string() +
              ": end that process, or take another --socket",
          refused};
}

// The socket of a nighd that was killed is replaced: the lock, which ends with its process, tells
// whether one is at work.
Sockets open_sockets(Settings const& settings) {
  if (auto const inherited = platform::inherited_listeners(); !inherited.empty())
    return {std::nullopt, {}, {}, inherited.front()};
  Sockets s;
  s.path = socket_path(settings);
  if (s.path.parent_path() == platform::private_directory())
    wanted(platform::make_private_directory(s.path.parent_path()), {}, bad_input);
  if (std::error_code failed;
      std::filesystem::exists(s.path, failed) && !std::filesystem::is_socket(s.path, failed))
    throw CannotServe{s.path.string() + ": something is there that is no socket", bad_input};
  auto const lock = s.path.string() + ".lock";
  if (is_no_lock(lock)) throw CannotServe{lock + " is no lock of nighd's", bad_input};
  auto owned = platform::OwnedFile::open(lock);
  if (!owned) throw CannotServe{lock + ": " + owned.message(), bad_input};
  if (!*owned) throw held_by_another(s.path, lock, settings.if_none);
  if (answers(s.path))  // somebody has removed its lock
    throw CannotServe{"another process serves " + s.path.string(), settings.if_none ? 0 : refused};
  s.lock.emplace(std::move(**owned));
  s.listener = wanted(
      platform::bind_local(s.path, platform::Carries::messages, settings.any_user ? 0666 : 0600),
      {}, bad_input);
  s.file = platform::socket_file(s.path);
  return s;
}

// n.log of n.sock; others, which may share all before the dot, get it added. Of a service manager's
// socket, nighd.log.
std::filesystem::path log_beside(std::filesystem::path socket) {
  if (socket.empty()) return platform::private_directory() / "nighd.log";
  if (socket.extension() == ".sock") return socket.replace_extension(".log");
  return socket += ".log";
}

// For people.
void note_process(Sockets const& sockets, int pid) {
  if (sockets.lock) static_cast<void>(sockets.lock->write_end(0, std::to_string(pid) + '\n'));
}

void serve(Settings const& settings) {
  platform::refuse_without_signals();
  // Programs say which cpus they may use; nighd's own mask is no reason to offer fewer.
  static_cast<void>(platform::pin_this_thread(all_cpus()));
  // Before we are in another directory.
  auto const profiles = profile_directory(settings);
  auto const metrics = settings.metrics.empty() ? std::filesystem::path()
                                                : std::filesystem::absolute(settings.metrics);
  auto const machine = wanted(topology::live());
  if (!machine.is_this_host())
    throw CannotServe{
        "the environment has hwloc show another machine (HWLOC_XMLFILE, HWLOC_SYNTHETIC)",
        bad_input};
  auto sockets = open_sockets(settings);
  coordinator::ServerOptions options;
  options.listener = sockets.listener;
  if (!metrics.empty()) {
    auto listener =
        platform::listen_local(metrics, platform::Carries::bytes, settings.any_user ? 0666 : 0600);
    if (!listener) platform::remove(sockets.file);
    options.metrics_listener = wanted(std::move(listener), {}, bad_input);
  }
  auto const metrics_file = platform::socket_file(metrics);
  auto opened_log = settings.foreground ? result<Log>(Log::to_standard_error())
                                        : Log::to_file(log_beside(sockets.path));
  if (!opened_log) {
    platform::remove(sockets.file);
    platform::remove(metrics_file);
  }
  auto const log = wanted(std::move(opened_log));
  auto const note = [&](int pid) { note_process(sockets, pid); };
  platform::Background background;
  if (settings.foreground)
    note(platform::process_id());
  else if (settings.if_none)  // nobody else watches over it
    background = wanted(platform::go_to_background_and_stay(note));
  else
    background = wanted(platform::go_to_background(note));
  platform::wake_soon();
  options.signals = wanted(platform::ending_signals());
  options.any_user = settings.any_user;
  options.own_cpus = all_cpus();
  // As many programs as descriptors allow: a program needs one, and a second one until it is
  // welcome.
  options.connections =
      std::min(options.connections,
               static_cast<std::size_t>(std::max(platform::raise_descriptor_limit(), 65) - 64));
  options.connections_of_a_user = settings.programs_per_user;
  options.core.allocation.how = settings.policy;
  options.core.slice_us = settings.slice_ms * 1000;
  options.core.idle_slice_us = std::min(options.core.idle_slice_us, options.core.slice_us);
  options.core.overdue_us = settings.overdue_ms * 1000;
  // Programs look for a new coordinator once a second.
  options.core.claims_us = 2'000'000;
  if (settings.idle_exit_s > 0) options.idle_exit_us = settings.idle_exit_s * 1'000'000;
  options.log = log;
  if (!profiles.empty()) {
    nighd::ProfileOptions kept{.directory = profiles,
                               .apart_by_user = settings.any_user,
                               .cpus = static_cast<std::uint32_t>(machine.cpus().size()),
                               .warn = [log](std::string_view what, std::string_view why) {
                                 log(Log::Level::warning, what, "why=" + nighd::quoted(why));
                               }};
    options.keeper = nighd::keeper_in(std::move(kept));
  }
  if (background.killed_by != 0)
    log(Log::Level::warning, "killed",
        "signal=" + std::to_string(background.killed_by) + " comes back");
  auto server = wanted(coordinator::Server::start(policy::CoreMap::of(machine), options));
  // Only now: a program that connects waits for a moment, and goes on without a coordinator.
  if (!sockets.path.empty()) wanted(platform::listen_at(sockets.listener));
  log(Log::Level::info, "serving",
      "cpus=" + std::to_string(machine.cpus().size()) +
          " policy=" + std::string(to_string(settings.policy)) +
          " pid=" + std::to_string(platform::process_id()));
  platform::tell_serving(background);
  server->run();
  // Programs that come from now on find no coordinator, rather than one that does not answer.
  platform::remove(sockets.file);
  platform::remove(metrics_file);
  server.reset();
  log(Log::Level::info, "leaving");
  // Otherwise its thread may be in a write that the usual ending would wait for.
  if (!log.finish(last_lines_within)) std::_Exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  nigh::platform::open_missing_standard_descriptors();
  nigh::platform::name_unknown_variables_for_all();
  try {
    auto const read = nigh::nighd::read_settings(argc, argv);
    if (!read.settings) return read.status;
    serve(*read.settings);
    return 0;
  } catch (CannotServe const& e) {
    std::fprintf(e.status == 0 ? stdout : stderr, "nighd: %s\n", base::printable(e.why).c_str());
    return e.status;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "nighd: %s\n", base::printable(e.what()).c_str());
    return refused;
  }
}
