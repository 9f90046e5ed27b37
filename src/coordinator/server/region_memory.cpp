// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/region_memory.hpp"

#include <system_error>

namespace nigh::coordinator {

RegionMemory::RegionMemory(Keeper keeper, policy::UserLimit pending)
    : keeper_(std::move(keeper)), jobs_(pending) {}

RegionMemory::~RegionMemory() {
  if (!thread_.joinable()) return;
  {
    std::lock_guard const guard(lock_);
    is_ending_ = true;
  }
  news_.notify_one();
  thread_.join();
}

bool RegionMemory::recall(Connection whose, KnownProgram const& program) {
  if (!keeper_.recall || program.binary == 0) return false;
  return add(program.user, Question{whose, program});
}

bool RegionMemory::look(Connection whose, KnownProgram const& program, std::uint32_t library) {
  return keeper_.look && program.process.pid > 0 &&
         add(program.user, Question{whose, program, library});
}

bool RegionMemory::remember(KnownProgram program, std::vector<KnownRegion> regions) {
  if (!keeper_.remember || (program.binary == 0 && program.libraries.empty())) return true;
  auto const user = program.user;
  return add(user, Lesson{std::move(program), std::move(regions)});
}

// The thread begins with the first job: a server that keeps nothing has none.
bool RegionMemory::add(unsigned user, Job job) {
  std::lock_guard const guard(lock_);
  if (!has_thread() || !jobs_.add(user, std::move(job))) return false;
  news_.notify_one();
  return true;
}

// False when the system has no more threads.
bool RegionMemory::has_thread() {
  try {
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  } catch (std::system_error const&) {
    return false;
  }
  return true;
}

void RegionMemory::work() {
  std::unique_lock guard(lock_);
  for (;;) {
    news_.wait(guard, [this] { return is_ending_ || !jobs_.empty(); });
    auto const job = jobs_.take();
    if (!job) return;  // it ends after the last job
    guard.unlock();
    std::visit([this](auto const& j) { carry_out(j); }, *job);
    guard.lock();
  }
}

void RegionMemory::carry_out(Question const& question) {
  auto what = question.library == 0 ? keeper_.recall(question.program)
                                    : keeper_.look(question.program, question.library);
  {
    std::lock_guard const guard(lock_);
    recalled_.push_back({question.whose, std::move(what)});
  }
  bell_.ring();
}

std::vector<RegionMemory::Recalled> RegionMemory::take_recalled() {
  bell_.wait(-1, 0);  // only when it has rung
  std::lock_guard const guard(lock_);
  return std::exchange(recalled_, {});
}

}  // namespace nigh::coordinator
