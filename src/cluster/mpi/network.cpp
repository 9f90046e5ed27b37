// SPDX-License-Identifier: Apache-2.0
#include "cluster/mpi/network.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <limits>
#include <memory>
#include <string_view>
#include <thread>

#include "base/assert.hpp"
#include "cluster/mpi/losses.hpp"
#include "cluster/mpi/world.hpp"
#include "cluster/mpi/yields.hpp"

namespace nigh::cluster::mpi {
namespace {

// MPICH 4.0 over UCX and TCP may wait in MPI_Finalize for ever when a message has just come.
// Neither more messages nor polling help; a while without either does, as a rule (a quarter of all
// programs hung, with the wait one in twenty: tests/cluster/README.md).
constexpr auto rest_before_finalize = std::chrono::milliseconds(30);

// The window begins at a page border in every process: memory aligned in one is aligned in all.
constexpr std::size_t line_bytes = 64;

// For the last messages to go out, where a rank may be lost that they are for.
constexpr auto most_of_last_words = std::chrono::seconds(1);

int as_count(std::size_t n) {
  NIGH_ASSERT(n <= static_cast<std::size_t>(std::numeric_limits<int>::max()),
              "a message has fewer bytes than an int can count");
  return static_cast<int>(n);
}

}  // namespace

Network::Network(bool starts, bool is_funneled)
    : starts_(starts), is_funneled_(is_funneled), world_(make_world(lost_before_)) {
  ++networks_;
  MPI_Comm_rank(world_, &rank_);
  MPI_Comm_size(world_, &ranks_);
  sent_to_.resize(static_cast<std::size_t>(ranks_));
  lanes_.resize(static_cast<std::size_t>(ranks_));
  posted_.fill(MPI_REQUEST_NULL);
  if (ranks_ == 1) return;
  buffers_.resize(ring_size * buffer_bytes);
  for (std::size_t i = 0; i < ring_size; ++i) post(i);
}

Network::~Network() {
  NIGH_ASSERT(world_ == MPI_COMM_NULL, "a network is finished before its end");
  --networks_;
}

std::string Network::name() const {
  char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  std::string const whole(text, static_cast<std::size_t>(length));
  auto line = whole.substr(0, whole.find_first_of("\n,"));
  std::string_view const filler = " Version:\t";  // as MPICH puts it
  if (auto const at = line.find(filler); at != line.npos) line.replace(at, filler.size(), " ");
  return line;
}

void Network::post(std::size_t slot) {
  MPI_Irecv(buffers_.data() + slot * buffer_bytes, as_count(buffer_bytes), MPI_BYTE, MPI_ANY_SOURCE,
            small, world_, &posted_[slot]);
}

void Network::send(int to, byte_view message) {
  if (is_gone(to)) return;
  ++sent_to_[static_cast<std::size_t>(to)];
  if (message.size() < most_small) {
    push_small(to, message, Says::all);
  } else {
    std::uint64_t const size = message.size();
    push_small(to, std::as_bytes(std::span(&size, 1)), Says::size);
    survives_ ? push_parts(to, message) : push_large(to, message);
  }
  start_sends();
}

void Network::push(Sending sending) {
  int const to = sending.to;
  lane(to).sends.push_back(std::move(sending));
  ++unsent_;
  note_if_ready(to);
}

void Network::push_small(int to, byte_view message, Says what) {
  bytes buffer;
  if (!spare_.empty()) {
    buffer = std::move(spare_.back());
    spare_.pop_back();
  }
  buffer.assign(message.begin(), message.end());
  buffer.push_back(std::byte(what));
  byte_view const whole = buffer;
  push({MPI_REQUEST_NULL, to, small, std::move(buffer), whole});
}

// Sends of a lane retire in turn, so the last piece outlives the others.
void Network::push_large(int to, byte_view message) {
  bytes copy(message.begin(), message.end());
  for (byte_view rest = copy; !rest.empty();) {
    auto const piece = rest.first(std::min(rest.size(), piece_bytes));
    push({MPI_REQUEST_NULL, to, large, {}, piece});
    rest = rest.subspan(piece.size());
  }
  lane(to).sends.back().message = std::move(copy);
}

void Network::push_parts(int to, byte_view message) {
  for (auto rest = message; !rest.empty();) {
    auto const part = rest.first(std::min(rest.size(), most_small - 1));
    push_small(to, part, Says::part);
    rest = rest.subspan(part.size());
  }
}

void Network::note_if_ready(int to) {
  Lane& l = lane(to);
  if (l.is_ready || l.under_way == l.sends.size() || l.under_way >= most_to_one) return;
  l.is_ready = true;
  ready_.push_back(to);
}

void Network::start_sends() {
  while (under_way_ < most_under_way && !ready_.empty()) {
    int const to = ready_.front();
    ready_.pop_front();
    Lane& l = lane(to);
    l.is_ready = false;
    start_next(l, to);
    note_if_ready(to);
  }
}

void Network::start_next(Lane& l, int to) {
  auto& s = l.sends[l.under_way];
  int const error =
      MPI_Isend(s.what.data(), as_count(s.what.size()), MPI_BYTE, to, s.tag, world_, &s.request);
  if (error != MPI_SUCCESS) fails(error);
  if (l.under_way++ == 0) busy_.push_back(to);
  ++under_way_;
}

void Network::hand_over() {
  for (; !ready_.empty(); ready_.pop_front()) lane(ready_.front()).is_ready = false;
  for (int to = 0; to < static_cast<int>(lanes_.size()); ++to)
    for (Lane& l = lane(to); l.under_way < l.sends.size();) start_next(l, to);
}

void Network::retire_sends(Lane& of) {
  while (of.under_way > 0) {
    auto& first = of.sends.front();
    int done = 0;
    int const error = MPI_Test(&first.request, &done, MPI_STATUS_IGNORE);
    if (error != MPI_SUCCESS)
      fails(error);
    else if (done == 0)
      return;
    if (first.request != MPI_REQUEST_NULL)
      sends_aside_.push_back(std::move(first));
    else if (first.tag != large && spare_.size() < most_under_way)
      spare_.push_back(std::move(first.message));
    of.sends.pop_front();
    --of.under_way;
    --under_way_;
    --unsent_;
  }
}

// MPI has often done with a small send at once, so there is room for the next.
void Network::advance() {
  NoYields const stays_on_cpu;
  for (int round = 0; round < most_rounds; ++round) {
    auto const before = unsent_;
    retire_all();
    start_sends();
    if (unsent_ == before || unsent_ == 0) return;
  }
}

void Network::retire_all() {
  for (std::size_t i = 0; i < busy_.size();) {
    int const to = busy_[i];
    retire_sends(lane(to));
    note_if_ready(to);
    if (lane(to).under_way > 0) {
      ++i;
      continue;
    }
    busy_[i] = busy_.back();
    busy_.pop_back();
  }
}

// Moves the next message that has arrived from the ring to its waiting place.
Network::Came Network::poll_ring() {
  int done = 0;
  MPI_Status status;
  int const error = MPI_Test(&posted_[next_], &done, &status);
  if (error != MPI_SUCCESS) {
    fails(error);
    if (posted_[next_] == MPI_REQUEST_NULL) {  // its message was a lost rank's
      take_next();
      return Came::nothing;
    }
    // Open MPI 5.0.11 leaves this error in a receive that it held back and has filled since.
    if (done == 0 || !says_held_back(error)) return Came::nothing;
    MPI_Request_free(&posted_[next_]);
  }
  if (done == 0) return Came::nothing;
  int size = 0;
  MPI_Get_count(&status, MPI_BYTE, &size);
  auto const* const at = buffers_.data() + next_ * buffer_bytes;
  byte_view const message(at, static_cast<std::size_t>(size) - 1);
  auto const says = static_cast<Says>(at[size - 1]);
  if (says == Says::part || is_gone(status.MPI_SOURCE)) {
    if (says == Says::part) take_part(status.MPI_SOURCE, message);
    if (heard_.empty() || heard_.back() != status.MPI_SOURCE) heard_.push_back(status.MPI_SOURCE);
    take_next();
    return Came::part;
  }
  auto& entry = waiting_.emplace_back();
  entry.from = status.MPI_SOURCE;
  if (says == Says::size) {
    std::uint64_t large_size = 0;
    std::memcpy(&large_size, message.data(), sizeof large_size);
    entry.message.resize(static_cast<std::size_t>(large_size));
    if (survives_)
      entry.missing = entry.message.size();
    else
      receive_large(entry);
  } else {
    entry.message.assign(message.begin(), message.end());
  }
  take_next();
  return Came::message;
}

// Of the last message of that rank. There is none when the rank is lost, or was left.
void Network::take_part(int from, byte_view part) {
  auto const last = std::find_if(waiting_.rbegin(), waiting_.rend(),
                                 [&](Waiting const& w) { return w.from == from; });
  if (last == waiting_.rend() || last->missing < part.size()) return;
  std::memcpy(last->message.data() + (last->message.size() - last->missing), part.data(),
              part.size());
  last->missing -= part.size();
}

void Network::take_next() {
  post(next_);
  next_ = (next_ + 1) % ring_size;
}

void Network::receive_large(Waiting& into) {
  auto const size = into.message.size();
  for (std::size_t at = 0; at < size; at += piece_bytes)
    if (int const error =
            MPI_Irecv(into.message.data() + at, as_count(std::min(size - at, piece_bytes)), MPI_BYTE,
                      into.from, large, world_, &into.pieces.emplace_back(MPI_REQUEST_NULL));
        error != MPI_SUCCESS)
      return fails(error);
}

bool Network::is_whole(Waiting& message) {
  if (message.missing > 0) return false;
  if (message.pieces.empty()) return true;
  int done = 0;
  int const error = MPI_Testall(static_cast<int>(message.pieces.size()), message.pieces.data(),
                                &done, MPI_STATUSES_IGNORE);
  if (error == MPI_SUCCESS) return done != 0;
  fails(error);
  return false;
}

Transport::Arrived Network::receive() {
  if (ranks_ == 1) return {};
  NoYields const stays_on_cpu;
  advance();
  for (int i = 0; i < most_parts_at_once && poll_ring() == Came::part; ++i) continue;
  if (has_failed_) learn_of_losses();
  // The first whole message of a rank whose earlier messages are whole, too.
  std::vector<int> behind;
  for (auto w = waiting_.begin(); w != waiting_.end(); ++w) {
    if (std::find(behind.begin(), behind.end(), w->from) != behind.end()) continue;
    if (!is_whole(*w)) {
      behind.push_back(w->from);
      continue;
    }
    int const from = w->from;
    lent_ = std::move(w->message);
    waiting_.erase(w);
    ++received_;
    return {from, lent_};
  }
  return {};
}

std::vector<bytes> Network::gather(byte_view mine) {
  auto const n = static_cast<std::size_t>(ranks_);
  std::vector<int> sizes(n), offsets(n);
  int const size = as_count(mine.size());
  MPI_Allgather(&size, 1, MPI_INT, sizes.data(), 1, MPI_INT, world_);
  std::size_t total = 0;
  for (std::size_t r = 0; r < n; ++r) {
    offsets[r] = as_count(total);
    total += static_cast<std::size_t>(sizes[r]);
  }
  bytes all(total);
  MPI_Allgatherv(mine.data(), size, MPI_BYTE, all.data(), sizes.data(), offsets.data(), MPI_BYTE,
                 world_);
  std::vector<bytes> by_rank;
  for (std::size_t r = 0; r < n; ++r) {
    auto const from = all.begin() + offsets[r];
    by_rank.emplace_back(from, from + sizes[r]);
  }
  return by_rank;
}

std::vector<std::byte*> Network::share(std::size_t bytes_each) {
  MPI_Comm_split_type(world_, MPI_COMM_TYPE_SHARED, rank_, MPI_INFO_NULL, &host_);
  int here = 0;
  MPI_Comm_size(host_, &here);
  if (here == 1) return {};
  MPI_Comm_set_errhandler(host_, MPI_ERRORS_RETURN);  // without a window, messages do
  void* mine = nullptr;
  int has_window = MPI_Win_allocate_shared(static_cast<MPI_Aint>(bytes_each + line_bytes), 1,
                                           MPI_INFO_NULL, host_, &mine, &window_) == MPI_SUCCESS;
  MPI_Allreduce(MPI_IN_PLACE, &has_window, 1, MPI_INT, MPI_MIN, host_);
  if (has_window == 0) return {};
  std::vector<int> rank_of(static_cast<std::size_t>(here));
  MPI_Allgather(&rank_, 1, MPI_INT, rank_of.data(), 1, MPI_INT, host_);
  std::vector<std::byte*> parts(static_cast<std::size_t>(ranks_));
  for (int r = 0; r < here; ++r) {
    MPI_Aint size = 0;
    int unit = 0;
    void* at = nullptr;
    MPI_Win_shared_query(window_, r, &size, &unit, &at);
    auto room = static_cast<std::size_t>(size);
    parts[static_cast<std::size_t>(rank_of[static_cast<std::size_t>(r)])] =
        static_cast<std::byte*>(std::align(line_bytes, bytes_each, at, room));
  }
  return parts;
}

// ---- ranks that are lost, or were left

std::string Network::why_all_end() const { return why_losses_are_not_reported(); }

void Network::survive() {
  MPI_Barrier(world_);
  MPI_Comm_set_errhandler(world_, MPI_ERRORS_RETURN);
  survives_ = true;
  gone_.resize(static_cast<std::size_t>(ranks_));
}

// This rank ends by an error that nobody can do anything about; the others go on.
void Network::fails(int error) {
  if (reports_a_loss(error)) {
    has_failed_ = true;
    return;
  }
  std::fprintf(stderr, "nigh: rank %d ends: %s\n", rank_, text_of(error).c_str());
  std::_Exit(1);
}

void Network::learn_of_losses() {
  has_failed_ = false;
  for (int const rank : acknowledge_losses(world_)) {
    if (is_gone(rank)) continue;
    put_aside(rank);
    lost_.push_back(rank);
  }
}

void Network::leave(int rank) {
  if (is_gone(rank)) return;
  put_aside(rank);
}

// A large message has its bytes in its last piece, so all pieces go.
void Network::put_aside(int rank) {
  gone_[static_cast<std::size_t>(rank)] = is_any_gone_ = true;
  lost_before_ = rank;
  Lane& l = lane(rank);
  unsent_ -= l.sends.size();
  under_way_ -= l.under_way;
  std::move(l.sends.begin(), l.sends.end(), std::back_inserter(sends_aside_));
  l = {};
  std::erase(busy_, rank);
  std::erase(ready_, rank);
  for (auto w = waiting_.begin(); w != waiting_.end();) {
    if (w->from != rank) {
      ++w;
      continue;
    }
    if (!w->pieces.empty()) receives_aside_.push_back(std::move(*w));
    w = waiting_.erase(w);
  }
}

// ---- the end

bool Network::finish_unless(std::function<bool()> const& is_left_behind) {
  if (!survives_) return finish_with_all(is_left_behind);
  finish_with_survivors();
  return true;
}

// Each rank learns how many messages it still has to receive, so that none is left in the network,
// where some MPIs would wait for it for ever.
bool Network::finish_with_all(std::function<bool()> const& is_left_behind) {
  MPI_Request sum = MPI_REQUEST_NULL;
  MPI_Ireduce_scatter_block(sent_to_.data(), &expected_, 1, MPI_UNSIGNED_LONG_LONG, MPI_SUM, world_,
                            &sum);
  for (;;) {
    int is_known = 0;
    MPI_Test(&sum, &is_known, MPI_STATUS_IGNORE);
    if (is_known != 0) break;
    if (is_left_behind()) return false;
    std::this_thread::yield();
  }
  while (received_ < expected_ || is_sending()) static_cast<void>(receive());
  drop_receives();
  if (window_ != MPI_WIN_NULL) MPI_Win_free(&window_);
  if (host_ != MPI_COMM_NULL) MPI_Comm_free(&host_);
  MPI_Comm_free(&world_);
  if (!starts_) return true;
  if (ranks_ > 1 && name().starts_with("MPICH")) std::this_thread::sleep_for(rest_before_finalize);
  MPI_Finalize();
  return true;
}

void Network::drop_receives() {
  for (auto& request : posted_)
    if (request != MPI_REQUEST_NULL) {
      MPI_Cancel(&request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
}

// No sum over ranks: one may be lost in the midst of it. A rank that does not take its messages is
// lost, or about to be.
//
// MPI is not finalised: MPI_Finalize waits for a rank that stands still, and ends the job now and then
// when a rank is killed meanwhile (docs/cluster-faults.md). Where ranks may be lost Open MPI's launcher
// takes the end of a rank without it for one like any other. Ranks that are still here take it for
// a loss, and need nothing of this one: all have said that they part.
//
// Nor is the communicator freed: messages may still be on their way in it, and the next session's
// could get its number, and those messages with it.
void Network::finish_with_survivors() {
  auto const until = std::chrono::steady_clock::now() + most_of_last_words;
  while (is_sending() && std::chrono::steady_clock::now() < until)
    static_cast<void>(receive());
  static_cast<void>(acknowledge_losses(world_));  // or waiting for a receive fails
  drop_receives();
  world_ = MPI_COMM_NULL;
}

}  // namespace nigh::cluster::mpi
