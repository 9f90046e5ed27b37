// SPDX-License-Identifier: Apache-2.0
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <oneapi/tbb/task_group.h>

#include <memory>

#include "bench/tasks/peers.hpp"

namespace bench {

namespace {

struct Arena {
  oneapi::tbb::global_control limit;
  oneapi::tbb::task_arena arena;
  oneapi::tbb::task_group group;

  explicit Arena(int threads)
      : limit(oneapi::tbb::global_control::max_allowed_parallelism,
              static_cast<std::size_t>(threads)),
        arena(threads) {}
};

}  // namespace

std::vector<Peer> tbb_peers(nigh::topology const&, std::vector<int> const& cpus) {
  auto const shared = std::make_shared<Arena>(static_cast<int>(cpus.size()));
  auto const tasks_only = [shared](long tasks) {
    shared->arena.execute([&] {
      for (long n = 0; n < tasks; ++n) shared->group.run([] {});
      shared->group.wait();
    });
  };
  return {{"tbb/task-group", tasks_only, {}}};
}

}  // namespace bench
