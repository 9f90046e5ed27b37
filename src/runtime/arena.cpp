// SPDX-License-Identifier: Apache-2.0
#include "runtime/arena.hpp"

#include <algorithm>
#include <utility>

#include "policy/cpus/lease_patience.hpp"

namespace nigh::tasks {
namespace {

constexpr std::size_t stack_bytes = 256 * 1024;

}  // namespace

CpuLeaseMaker make_cpu_lease = nullptr;

LeasedArena::LeasedArena(std::unique_ptr<CpuLease> source, policy::ArenaWorkers workers,
                         std::function<void(Members const&)> tell)
    : Arena(static_cast<int>(workers.cpu_of.size())),
      source_(std::move(source)),
      workers_(std::move(workers)),
      tell_(std::move(tell)) {
  admit_granted({});
}

LeasedArena::~LeasedArena() = default;

void LeasedArena::start() {
  auto thread = platform::Thread::start(stack_bytes, [this] { keep(); });
  std::lock_guard const guard(lock_);
  if (thread)
    thread_ = *thread;
  else
    stopping_ = true, admit_all();
}

void LeasedArena::stop() noexcept {
  {
    std::lock_guard const guard(lock_);
    stopping_ = true;
  }
  source_->close();
  source_->ring();
  if (thread_) thread_->join();
  thread_.reset();
  std::lock_guard const guard(lock_);
  admit_all();
}

void LeasedArena::woke() noexcept {
  if (awake_.fetch_add(1, sync::relaxed) != 0) return;
  std::lock_guard const guard(lock_);
  if (awake_.load(sync::relaxed) == 0 || lease_ == Lease::busy || obtaining_ || stopping_) return;
  if (lease_ == Lease::idle && source_->resume()) {
    lease_ = Lease::busy;
    return;
  }
  if (lease_ == Lease::idle) admit_granted({});
  lease_ = Lease::none;
  if (!tries_again_) source_->ring();  // else it wakes by itself, soon
}

void LeasedArena::falls_asleep() noexcept {
  if (awake_.fetch_sub(1, sync::relaxed) != 1) return;
  std::lock_guard const guard(lock_);
  if (awake_.load(sync::relaxed) != 0 || lease_ != Lease::busy || obtaining_ || stopping_) return;
  if (source_->pause())
    lease_ = Lease::idle;
  else
    source_->ring();
}

int LeasedArena::member_count() const {
  std::lock_guard const guard(lock_);
  return static_cast<int>(std::count(members_.begin(), members_.end(), true));
}

void LeasedArena::keep() noexcept {
  platform::name_this_thread("nigh-leases");
  std::unique_lock guard(lock_);
  while (!stopping_) {
    if (settle(guard)) continue;
    tries_again_ = granted_none_ && awake_.load(sync::relaxed) > 0;
    auto const timeout = tries_again_ ? std::optional(policy::ask_again_us) : std::nullopt;
    guard.unlock();
    source_->wait(timeout);
    guard.lock();
    tries_again_ = false;
  }
}

// Does one thing that is due. False: nothing is, or no cpus were granted.
bool LeasedArena::settle(std::unique_lock<std::mutex>& guard) {
  auto const news = source_->news();
  if (news == CpuLease::News::gone && !granted_none_) {
    lease_ = Lease::none;
    granted_none_ = true;
    admit_all();
  }
  bool const is_wanted_back = lease_ != Lease::none && news == CpuLease::News::asked;
  if (awake_.load(sync::relaxed) == 0) {
    if (!is_wanted_back) return false;
    lease_ = Lease::none;
    source_->give_back();
    return true;
  }
  if (lease_ != Lease::none && !is_wanted_back) return false;

  lease_ = Lease::none;
  if (!granted_none_) admit_granted({});
  obtaining_ = true;
  guard.unlock();
  auto const granted = source_->obtain();
  guard.lock();
  obtaining_ = false;
  if (stopping_) return true;
  granted_none_ = !granted;
  if (!granted) {
    admit_all();
    return false;
  }
  admit_granted(*granted);
  lease_ = Lease::busy;
  if (awake_.load(sync::relaxed) == 0 && source_->pause()) lease_ = Lease::idle;
  return true;
}

void LeasedArena::admit_granted(std::vector<int> const& cpus) {
  admit(policy::arena_members(workers_, cpus));
}

void LeasedArena::admit_all() { admit(Members(workers_.cpu_of.size(), true)); }

void LeasedArena::admit(Members members) {
  if (members == members_) return;
  members_ = std::move(members);
  tell_(members_);
}

}  // namespace nigh::tasks
