// SPDX-License-Identifier: Apache-2.0
#pragma once
// A bounded queue that several users share. Users are served round robin, the jobs of one user in
// the order in which they came: a user with many jobs delays the job of another user by one job.

#include <cstddef>
#include <deque>
#include <optional>
#include <unordered_map>
#include <utility>

#include "policy/cpus/user_share.hpp"

namespace nigh::coordinator {

template <class Job>
class UserQueue {
 public:
  explicit UserQueue(policy::UserLimit limit) : limit_(limit) {}

  bool empty() const noexcept { return size_ == 0; }
  std::size_t size() const noexcept { return size_; }

  // False: this user, or all users together, have too many jobs. The job is dropped.
  bool add(unsigned user, Job job) {
    auto const found = jobs_.find(user);
    std::size_t const own = found == jobs_.end() ? 0 : found->second.size();
    if (!policy::may_have_one_more(own, size_, limit_)) return false;
    if (own == 0) round_.push_back(user);
    jobs_[user].push_back(std::move(job));
    ++size_;
    return true;
  }

  std::optional<Job> take() {
    if (round_.empty()) return std::nullopt;
    unsigned const user = round_.front();
    round_.pop_front();
    auto const jobs = jobs_.find(user);
    std::optional<Job> job(std::move(jobs->second.front()));
    jobs->second.pop_front();
    --size_;
    if (jobs->second.empty())
      jobs_.erase(jobs);
    else
      round_.push_back(user);
    return job;
  }

 private:
  policy::UserLimit limit_;
  std::size_t size_ = 0;
  std::unordered_map<unsigned, std::deque<Job>> jobs_;  // of users that have some
  std::deque<unsigned> round_;                          // these users, the next one first
};

}  // namespace nigh::coordinator
