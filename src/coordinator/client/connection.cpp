// SPDX-License-Identifier: Apache-2.0
#include "coordinator/client/connection.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/clock.hpp"
#include "platform/futex.hpp"
#include "platform/local_socket.hpp"
#include "platform/pause.hpp"
#include "platform/shared_memory.hpp"
#include "platform/uncancelled.hpp"

namespace nigh::coordinator {

using platform::OwnSocket;
using platform::Uncancelled;

namespace {

constexpr int answers_within_ms = 1000;  // a coordinator that is alive
constexpr int welcome_within_ms = 150;   // a program that waits briefly
constexpr std::int64_t awake_us = 30;
// an answer is late when it comes this long after the request's patience
constexpr std::int64_t late_us = 50'000;
constexpr std::int64_t shortest_pause = 1'000'000, longest_pause = 64'000'000;
constexpr std::int64_t shortest_silence = 250'000;  // the coordinator may just not have had a cpu
constexpr std::int64_t without_end = INT64_MAX;

}  // namespace

ClientConnection::~ClientConnection() { platform::unmap_shared(page_, sizeof(LeasePage)); }

bool ClientConnection::join(ConnectionOptions const& options) noexcept {
  Uncancelled const whole;
  listener_.take();
  bool done = is_joined();
  if (!done) {
    auto const length = options.socket == nullptr ? 0 : std::strlen(options.socket);
    me_ = {.pid = 0,
           .name = Name(options.name),
           .allowed = options.allowed,
           .rank = options.rank,
           .listens = options.listens,
           .binary = options.binary};
    waits_briefly_ = options.waits_briefly;
    may_join_ = 0 < length && length < path_.size() && me_.is_valid();
    path_ = {};
    if (may_join_) std::memcpy(path_.data(), options.socket, length);
    pause_ = 0;
    done = may_join_ && connect();
  }
  listener_.give();
  return done;
}

void ClientConnection::drop() noexcept {
  link_.store(0, sync::relaxed);
  forgotten_links_ = last_link_;
  may_join_ = false;
  socket_.drop();
  if (page_ != nullptr) platform::unshare(page_, sizeof(LeasePage));
  for (auto& m : requests_) m.store(nullptr, sync::relaxed);
  silent_until_.store(0, sync::relaxed);
  silence_.store(0, sync::relaxed);
  listener_.reset();
  leaving_.store(0, sync::relaxed);
  counting_waits_.reset();
}

// As a rule, only reads the clock.
bool ClientConnection::rejoin() noexcept {
  if (is_joined()) return true;
  if (base::now_us() < next_try_.load(sync::relaxed)) return false;
  Uncancelled const whole;
  if (!listener_.try_take()) return false;
  bool const done = is_joined() || (may_join_ && connect());
  listener_.give();
  return done;
}

bool ClientConnection::connect() noexcept {
  bool const is_silent = waits_briefly_ && platform::is_put_off(path_.data());
  bool const is_there = !is_silent && OwnSocket::Change(socket_).open(path_.data()) == 0;
  if (!is_there) found_foreign_.store(false, sync::relaxed);
  bool const done = is_there && shake_hands();
  if (is_there && !done) OwnSocket::Change(socket_).close();
  pause_ = done ? shortest_pause : std::clamp(2 * pause_, shortest_pause, longest_pause);
  next_try_.store(base::now_us() + pause_, sync::relaxed);
  return done;
}

bool ClientConnection::shake_hands() noexcept {
  auto const hello = encode(ProgramMessage{me_});
  if (platform::send_message(OwnSocket::Use(socket_).number(), hello.bytes()) != 0) return false;
  auto const until =
      base::now_us() + (waits_briefly_ ? welcome_within_ms : answers_within_ms) * 1000;
  for (;;) {
    if (auto const answer = hear_welcome()) return *answer;
    auto const left = until - base::now_us();
    if (left <= 0) {
      if (waits_briefly_) platform::put_off(path_.data());
      return false;
    }
    platform::wait_until_readable(socket_.number(), static_cast<int>(left / 1000 + 1));
  }
}

// Whether the welcome is there. The page's descriptor comes with it, and is closed again before
// other threads may close numbers.
std::optional<bool> ClientConnection::hear_welcome() noexcept {
  OwnSocket::Change const alone(socket_);
  std::array<std::byte, largest_message> bytes;
  auto const arrived = platform::receive_message(alone.number(), bytes);
  if (arrived.size == -EAGAIN) return std::nullopt;
  bool done = false;
  if (0 < arrived.size && arrived.size <= static_cast<int>(bytes.size())) {
    auto const decoded =
        decode_from_coordinator({bytes.data(), static_cast<std::size_t>(arrived.size)});
    auto const* const wrong = std::get_if<DecodeError>(&decoded);
    found_foreign_.store(wrong != nullptr && *wrong == DecodeError::foreign_version, sync::relaxed);
    auto const* const message = std::get_if<CoordinatorMessage>(&decoded);
    done =
        message != nullptr && std::holds_alternative<Welcome>(*message) && install(arrived.passed);
  }
  platform::close_descriptor(arrived.passed);
  return done;
}

bool ClientConnection::install(int page) noexcept {
  if (page < 0) return false;
  auto* const mapped = platform::map_shared(page, sizeof(LeasePage), page_);
  if (mapped == nullptr) return false;
  page_ = static_cast<LeasePage*>(mapped);
  asked_whether_alive_ = false;
  link_.store(++last_link_, sync::release);  // (connection.P)
  return true;
}

bool ClientConnection::attach(PendingRequest& request) noexcept {
  if (request.slot < lease_slots && requests_[request.slot].load(sync::relaxed) == &request)
    return true;
  for (std::uint32_t slot = 0; slot < lease_slots; ++slot) {
    PendingRequest* free = nullptr;
    if (!requests_[slot].compare_exchange_strong(free, &request, sync::acq_rel))  // (connection.M)
      continue;
    request.slot = slot;
    request.ticket = slot;
    return true;
  }
  return false;
}

// After this, no listening thread knows the request.
void ClientConnection::detach(PendingRequest& request) noexcept {
  if (request.slot == lease_slots || requests_[request.slot].load(sync::relaxed) != &request)
    return;
  Uncancelled const whole;
  take_from_listener();
  requests_[request.slot].store(nullptr, sync::relaxed);
  give_to_listeners();
}

void ClientConnection::take_from_listener() noexcept {
  leaving_.fetch_add(1, sync::relaxed);
  while (!listener_.try_take()) {
    send(Query{});  // the listening thread hears the answer, and gives the lock
    listener_.await();
  }
}

void ClientConnection::give_to_listeners() noexcept {
  listener_.give();
  if (leaving_.fetch_sub(1, sync::relaxed) == 1) platform::futex_wake_all(leaving_);
}

void ClientConnection::renew_allowed(CpuSet const& allowed) noexcept {
  Uncancelled const whole;
  take_from_listener();
  me_.allowed = allowed;
  if (is_joined()) lose();
  give_to_listeners();
}

// False if it is not sent: then the coordinator is gone, or has not read for so long that it might
// as well be.
bool ClientConnection::send(ProgramMessage const& message) noexcept {
  auto const encoded = encode(message);
  OwnSocket::Use const own(socket_);
  return is_joined() && platform::send_message(own.number(), encoded.bytes()) == 0;
}

// A lease that cannot be released would stay ours for ever, so the connection ends instead; the
// next thread that uses it finds that out.
void ClientConnection::release(LeaseId lease) noexcept {
  if (send(Release{lease}) || !is_joined()) return;
  platform::hang_up(OwnSocket::Use(socket_).number());
}

Handover::Is ClientConnection::ask(PendingRequest& request, ProgramMessage const& message,
                                   std::uint32_t link, Clock patience) noexcept {
  Uncancelled const whole;
  request.answer.await(request.ticket);
  wait_for_answer(request, message, link, patience);
  return request.answer.end(request.ticket);
}

void ClientConnection::wait_for_answer(PendingRequest& request, ProgramMessage const& message,
                                       std::uint32_t link, Clock patience) noexcept {
  auto const is_awaited = [&] {
    return request.answer.is_awaited(request.ticket) && link_.load(sync::relaxed) == link &&
           !is_closed_.load(sync::relaxed);
  };
  auto const until = patience == 0 ? without_end : base::now_us() + patience + late_us;
  page_->answer_to(request.ticket).word.await(request.ticket);
  bool const sent = !is_closed_.load(sync::relaxed) && send(message);
  if (sent && hear_awake(request, link)) return;
  while (sent && is_awaited()) {
    auto const now = base::now_us();
    if (now >= until) return note_silence(now);
    if (auto const leaving = leaving_.load(sync::relaxed); leaving != 0) {
      constexpr std::int64_t at_most_ns = 1'000'000;
      platform::futex_wait_for(leaving_, leaving, at_most_ns);
    } else if (listener_.try_take()) {
      if (is_awaited()) listen(until - now);
      listener_.give();
    } else if (patience == 0) {
      listener_.await();
    } else {
      listener_.await_for(until - now);
    }
  }
  if (sent) return;
  listener_.take();
  if (link_.load(sync::relaxed) == link) lose();
  listener_.give();
}

// True when the answer was in the page. Refusals are not there, nor are answers that take longer.
bool ClientConnection::hear_awake(PendingRequest& request, std::uint32_t link) noexcept {
  auto const ticket = request.ticket;
  Answer& answer = page_->answer_to(ticket);
  auto const until = base::now_us() + awake_us;
  bool there = false;
  do {
    for (int i = 0; i < sync::spins && !there; ++i) {
      sync::pause();
      there = answer.word.is_answered(ticket);
    }
  } while (!there && base::now_us() < until && link_.load(sync::relaxed) == link);
  if (!there && !answer.word.sleep(ticket)) return false;
  hear_late_answers();
  if (answer.is_unplaced()) {
    request.take(ticket, Handover::Is::unplaced);
    return true;
  }
  Grant const grant = answer.get(ticket);
  if (grant.is_valid()) {
    request.take(grant);
    return true;
  }
  listener_.take();  // as after bytes that are no message
  if (link_.load(sync::relaxed) == link) lose();
  listener_.give();
  return false;
}

void ClientConnection::close() noexcept {
  is_closed_.store(true, sync::relaxed);
  if (is_joined()) platform::hang_up(OwnSocket::Use(socket_).number());
}

bool ClientConnection::begin_closing(unsigned first, unsigned last) noexcept {
  if (!socket_.begin_closing(first, last)) return false;
  if (socket_.number() < 0 && link_.exchange(0, sync::relaxed) != 0)
    next_try_.store(base::now_us(), sync::relaxed);  // at the next region
  return true;
}

void ClientConnection::look() noexcept {
  Uncancelled const whole;
  if (!listener_.try_take()) return;
  if (is_joined()) static_cast<void>(hear());
  listener_.give();
}

void ClientConnection::listen(Clock at_most) noexcept {
  if (hear()) return;
  bool const is_brief = at_most < answers_within_ms * 1000;
  auto const ms = is_brief ? static_cast<int>(at_most / 1000 + 1) : answers_within_ms;
  if (platform::wait_until_readable(socket_.number(), ms)) {
    static_cast<void>(hear());
    return;
  }
  if (is_brief) return;
  if (asked_whether_alive_ || !send(Query{})) return lose();
  asked_whether_alive_ = true;
}

// Hears all that has arrived. False: nothing has.
bool ClientConnection::hear() noexcept {
  std::array<std::byte, largest_message> bytes;
  for (bool anything = false;; anything = true) {
    auto const size = platform::receive_bytes(OwnSocket::Use(socket_).number(), bytes);
    if (size == -EAGAIN) return anything;
    if (size <= 0 || size > static_cast<int>(bytes.size())) return lose(), true;
    auto const decoded = decode_from_coordinator({bytes.data(), static_cast<std::size_t>(size)});
    auto const* const message = std::get_if<CoordinatorMessage>(&decoded);
    if (message == nullptr) return lose(), true;
    asked_whether_alive_ = false;
    silent_until_.store(0, sync::relaxed);
    silence_.store(0, sync::relaxed);
    if (auto const* const grant = std::get_if<Grant>(message))
      hand_over(*grant);
    else if (auto const* const refusal = std::get_if<Refusal>(message))
      hand_over(refusal->ticket, Handover::Is::refused);
    else if (auto const* const unplaced = std::get_if<Unplaced>(message))
      hand_over(unplaced->ticket, Handover::Is::unplaced);
  }
}

// The request with this slot. It may have another ticket by now; its take() finds out.
PendingRequest* ClientConnection::pending(Ticket ticket) noexcept {
  return requests_[ticket % lease_slots].load(sync::acquire);  // (connection.M)
}

// A grant that came too late goes back, though its word may be another lease's by now. It does not
// matter if the lease has ended meanwhile.
void ClientConnection::hand_over(Grant const& grant) noexcept {
  if (auto* const request = pending(grant.ticket); request != nullptr && request->take(grant))
    return;
  static_cast<void>(page_->at(grant.ticket).decline(grant.lease));
  release(grant.lease);
}

void ClientConnection::hand_over(Ticket ticket, Handover::Is answer) noexcept {
  if (auto* const request = pending(ticket)) request->take(ticket, answer);
}

// Whether not to ask the coordinator, because it owes an answer. If that has come meanwhile, it may
// be asked.
bool ClientConnection::is_silent(Clock now) noexcept {
  if (now >= silent_until_.load(sync::relaxed)) return false;
  look();
  return now < silent_until_.load(sync::relaxed);
}

ClientConnection::Clock ClientConnection::patience_of_new_thread(Clock now) noexcept {
  if (!counting_waits_.try_lock()) return policy::LeasePatience{}.at(now);
  auto const patience = patience_of_new_threads_.at(now);
  counting_waits_.unlock();
  return patience;
}

void ClientConnection::new_thread_has_waited(Clock wait, Clock now) noexcept {
  if (!counting_waits_.try_lock()) return;
  patience_of_new_threads_.spend(wait, now);
  counting_waits_.unlock();
}

// A coordinator that answers again has answered earlier requests, too: grants that no thread waits
// for any more go back, or they would be held until the next message.
void ClientConnection::hear_late_answers() noexcept {
  if (silence_.load(sync::relaxed) == 0) return;
  look();
  silent_until_.store(0, sync::relaxed);
  silence_.store(0, sync::relaxed);
}

void ClientConnection::note_silence(Clock now) noexcept {
  auto const silence =
      std::clamp(2 * silence_.load(sync::relaxed), shortest_silence, longest_pause);
  silence_.store(silence, sync::relaxed);
  silent_until_.store(now + silence, sync::relaxed);
}

void ClientConnection::lose() noexcept {
  link_.store(0, sync::relaxed);
  platform::hang_up(OwnSocket::Use(socket_).number());
  next_try_.store(base::now_us(), sync::relaxed);  // a new coordinator may be there already
}

}  // namespace nigh::coordinator
