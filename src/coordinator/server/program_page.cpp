// SPDX-License-Identifier: Apache-2.0
#include "coordinator/server/program_page.hpp"

#include <cstring>
#include <string>
#include <utility>

#include "platform/local_socket.hpp"
#include "platform/program.hpp"
#include "platform/shared_memory.hpp"

namespace nigh::coordinator {

result<std::unique_ptr<ProgramPage>> ProgramPage::make() {
  int const memory = platform::make_shared_memory(sizeof(LeasePage));
  if (memory < 0)
    return error{std::string("there is no memory to share with programs: ") +
                 std::strerror(-memory)};
  void* const page = platform::map_shared(memory, sizeof(LeasePage));
  if (page == nullptr) {
    platform::close_descriptor(memory);
    return error{"there is no memory to share with programs"};
  }
  return std::unique_ptr<ProgramPage>(new ProgramPage(memory, static_cast<LeasePage*>(page)));
}

ProgramPage::~ProgramPage() {
  platform::close_descriptor(memory_);
  platform::unmap_shared(page_, sizeof(LeasePage));
}

int ProgramPage::take_memory() noexcept { return std::exchange(memory_, -1); }

void ProgramPage::tell_programs(std::size_t count) noexcept {
  page_->host.programs.store(static_cast<std::uint32_t>(count), sync::relaxed);
}

bool ProgramPage::answer(Grant const& grant) {
  leases_[grant.lease] = grant.ticket;
  page_->at(grant.ticket).grant(grant.lease);
  return page_->answer_to(grant.ticket).put(grant);
}

bool ProgramPage::answer(Unplaced const& unplaced) {
  return page_->answer_to(unplaced.ticket).put(unplaced);
}

ProgramPage::Found ProgramPage::take_back(Revoke const& revoke) {
  auto const lease = leases_.find(revoke.lease);
  if (lease == leases_.end()) return Found::unknown;
  LeaseWord& word = page_->at(lease->second);
  if (revoke.reason == Revoke::Reason::ended) {
    word.end(revoke.lease);
    leases_.erase(lease);
    return Found::ended;
  }
  bool is_taken = false;
  if (is_for_good(revoke.reason))
    is_taken = word.take_back(revoke.lease) == LeaseWord::Found::taken;
  else if (revoke.reason == Revoke::Reason::if_idle)
    is_taken = word.take_idle(revoke.lease);
  else
    is_taken = word.take_rested(revoke.lease);
  if (!is_taken) return Found::in_use;
  leases_.erase(lease);
  return Found::taken;
}

void ProgramPage::close() noexcept {
  for (auto& line : page_->lines) line.word.close();
}

}  // namespace nigh::coordinator
