// SPDX-License-Identifier: Apache-2.0
// How a session starts MPI, and detects that it cannot.

#include <mpi.h>

#include <cstdio>
#include <cstdlib>
#include <nigh/cluster.hpp>
#include <stdexcept>
#include <string>

#include "cluster/mpi/launcher.hpp"
#include "cluster/mpi/losses.hpp"
#include "cluster/mpi/network.hpp"
#include "cluster/mpi/start_limit.hpp"

namespace nigh::cluster {
namespace {

char const* level_name(int level) {
  switch (level) {
    case MPI_THREAD_SINGLE:
      return "MPI_THREAD_SINGLE";
    case MPI_THREAD_FUNNELED:
      return "MPI_THREAD_FUNNELED";
    case MPI_THREAD_SERIALIZED:
      return "MPI_THREAD_SERIALIZED";
    default:
      return "MPI_THREAD_MULTIPLE";
  }
}

[[noreturn]] void end(std::string const& why) {
  std::fprintf(stderr, "nigh: %s\n", why.c_str());
  std::exit(2);
}

std::optional<std::chrono::microseconds> limit_of_start() {
  try {
    return mpi::start_limit_of_environment();
  } catch (std::invalid_argument const& e) {
    end(e.what());
  }
}

std::unique_ptr<Transport> connect(int& argc, char**& argv, bool supervised) {
  if (mpi::Network::is_there())
    throw std::logic_error("nigh::cluster::session: there is one already");
  int is_initialised = 0, is_over = 0, thread_level = MPI_THREAD_SINGLE;
  MPI_Finalized(&is_over);
  if (is_over != 0)
    throw std::logic_error(
        "nigh::cluster::session: MPI has ended, and starts no second time; who wants several "
        "sessions starts it before the first");
  MPI_Initialized(&is_initialised);
  if (is_initialised != 0) {
    MPI_Query_thread(&thread_level);
  } else {
    if (supervised) mpi::keep_out_of_shared_memory();
    mpi::StartLimit const limit(limit_of_start());
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &thread_level);
  }
  auto const give_up = [&](std::string const& why) {
    if (is_initialised == 0) MPI_Finalize();
    end(why);
  };
  if (thread_level < MPI_THREAD_FUNNELED)
    give_up(std::string("MPI was initialised with ") + level_name(thread_level) +
            "; a session needs MPI_THREAD_SERIALIZED, or at least MPI_THREAD_FUNNELED");

  auto network =
      std::make_unique<mpi::Network>(is_initialised == 0, thread_level < MPI_THREAD_SERIALIZED);
  auto const foreign =
      network->ranks() == 1 ? mpi::launcher_of_others(std::getenv, network->name()) : std::string();
  if (!foreign.empty()) {
    auto const why = "this program was built with " + network->name() + ", but started by " +
                     foreign + ": each of its processes takes itself for the only one";
    network->finish();
    end(why);
  }
  return network;
}

}  // namespace

session::session(int& argc, char**& argv, session_options options)
    : session(connect(argc, argv, options.supervised), std::move(options)) {}

}  // namespace nigh::cluster
