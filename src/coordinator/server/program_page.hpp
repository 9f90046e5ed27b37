// SPDX-License-Identifier: Apache-2.0
#pragma once
// The server's side of the page that it shares with one program (protocol/lease_word.hpp), with the
// leases that the program was told of.

#include <map>
#include <memory>
#include <nigh/result.hpp>

#include "coordinator/protocol/lease_word.hpp"
#include "coordinator/protocol/message.hpp"

namespace nigh::coordinator {

class ProgramPage {
 public:
  static result<std::unique_ptr<ProgramPage>> make();
  ~ProgramPage();
  ProgramPage(ProgramPage&&) = delete;

  // The descriptor of the memory, for the Welcome; the receiver closes it.
  int take_memory() noexcept;
  void tell_programs(std::size_t count) noexcept;
  void tell(Advice const& advice) noexcept { page_->regions.set(advice); }
  // True: the program reads the answer in its page. False: it must be sent.
  bool answer(Grant const& grant);
  bool answer(Unplaced const& unplaced);
  // As the program has written them.
  void add_counts(Status& to) const noexcept {
    to.tasks = page_->tasks.made.load(sync::relaxed);
    to.stolen = page_->tasks.stolen.load(sync::relaxed);
  }
  bool awaits(Ticket ticket) const noexcept {
    return page_->answer_to(ticket).word.is_awaited(ticket);
  }

  enum class Found {
    unknown,  // the program has given it back, or never had it
    taken,    // it was idle: the core must hear of a Release
    in_use,   // a region uses it; if it is wanted for good, it was asked back
    ended     // the program has lost it
  };
  Found take_back(Revoke const& revoke);
  void forget(LeaseId lease) { leases_.erase(lease); }
  // The connection is over, and all leases with it.
  void close() noexcept;

 private:
  ProgramPage(int memory, LeasePage* page) : memory_(memory), page_(page) {}

  int memory_;
  LeasePage* page_;
  std::map<LeaseId, Ticket> leases_;
};

}  // namespace nigh::coordinator
