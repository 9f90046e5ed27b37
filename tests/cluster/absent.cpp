// SPDX-License-Identifier: Apache-2.0
// Ranks that call nothing of nigh between two runs, for longer than a rank may be silent: absent
// FOLDER. The result of a run is large, and all ranks have it although rank 0 calls neither nigh
// nor MPI afterwards. With NIGH_CLUSTER_SILENCE no rank is taken for lost.

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nigh/cluster.hpp>
#include <string>
#include <thread>

namespace {

namespace fs = std::filesystem;

std::string large(int megabytes) {
  return std::string(static_cast<std::size_t>(megabytes) << 20U, 'x');
}

void say(fs::path const& folder, int rank) { std::ofstream(folder / std::to_string(rank)); }

bool have_said(fs::path const& folder, int ranks) {
  for (int i = 0; i < 6000; ++i) {
    int count = 0;
    for (int r = 1; r < ranks; ++r) count += fs::exists(folder / std::to_string(r));
    if (count == ranks - 1) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  nigh::cluster::session_options options;
  options.supervised = std::getenv("NIGH_CLUSTER_SILENCE") != nullptr;
  nigh::cluster::session here(argc, argv, options);
  fs::path const folder = argv[1];
  bool is_right = nigh::cluster::run<large>(20).size() == 20U << 20U;
  if (here.rank() != 0) say(folder, here.rank());
  if (here.rank() == 0) is_right &= have_said(folder, here.ranks());
  if (options.supervised && here.rank() == 1) std::this_thread::sleep_for(std::chrono::seconds(6));
  is_right &= nigh::cluster::run<large>(1).size() == 1U << 20U;
  is_right &= here.counters().ranks_lost == 0;
  if (!is_right) std::fprintf(stderr, "rank %d: not so\n", here.rank());
  return is_right ? EXIT_SUCCESS : EXIT_FAILURE;
}
