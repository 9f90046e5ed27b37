// SPDX-License-Identifier: Apache-2.0
#pragma once
// Copies of checkpoints on their way: messages about them, and pieces of which a few at a time are
// under way, so that other messages, such as beats, go between them. Sends nothing itself.
//
//   sender  begin() ──piece, piece──▶ take()  receiver
//           go_on() ◀──has_piece───── (each piece)
//           end()   ◀──has_all─────── (no further piece is wanted)

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "cluster/transport.hpp"

namespace nigh::cluster {

// A message about a checkpoint; the name and the bytes of a piece follow.
struct CheckpointHead {
  enum class What : std::uint32_t {
    piece,      // bytes of a copy: to be kept, or the answer to a fetch
    has_piece,  // the answer
    has_all,    // the same: no further piece is wanted
    complete,   // the sender and its keepers have that step: older ones may go
    find,       // which step have you?
    found,      // the answer
    fetch,      // send me that step
    gone,       // the answer: it is not here any more
    forget,     // that name, up to that epoch
    forgotten,  // the answer
  };
  What what = What::piece;
  std::uint32_t name_bytes = 0;
  std::uint32_t epoch = 0;     // how often the name was forgotten
  std::uint32_t has_step = 0;  // found: there is one
  std::array<std::int32_t, 2> keepers{-1, -1};
  std::int64_t step = 0;
  std::uint64_t id = 0;       // the asking rank's, for the answer
  std::uint64_t answers = 0;  // piece: the id of a fetch; 0: to be kept
  std::uint64_t total_bytes = 0, offset = 0;
};

using CheckpointContent = std::shared_ptr<bytes const>;

struct CheckpointMessage {
  int to;
  CheckpointHead head;
  std::string name;
  CheckpointContent content = {};  // of a piece, from head.offset on
  std::size_t size = 0;
  byte_view piece() const noexcept {
    return content ? byte_view(*content).subspan(head.offset, size) : byte_view{};
  }
};

struct PiecePolicy {
  std::size_t bytes = std::size_t{4} << 20;  // of a piece
  std::size_t under_way = 2;                 // pieces of one copy
};

class PiecesOut {
 public:
  using Id = std::uint64_t;
  PiecesOut(PiecePolicy policy, std::vector<CheckpointMessage>& messages)
      : policy_(policy), messages_(messages) {}

  // head: of all pieces, apart from their offsets; head.id is new.
  void begin(int to, CheckpointHead const& head, std::string const& name, CheckpointContent content,
             Id keeping) {
    auto& copy = copies_[head.id] = {{to, head, name, std::move(content)}, keeping};
    for (std::size_t i = 0; i < policy_.under_way; ++i) send_piece(copy);
  }
  struct Arrived {
    int at;
    Id keeping;
  };
  // A piece has come. A result says that all of the copy has.
  std::optional<Arrived> go_on(Id id) {
    auto const at = copies_.find(id);
    if (at == copies_.end()) return {};
    --at->second.under_way;
    send_piece(at->second);
    if (at->second.under_way > 0) return {};
    return end(id);
  }
  std::optional<Arrived> end(Id id) {
    auto const at = copies_.find(id);
    if (at == copies_.end()) return {};
    Arrived const arrived{at->second.next.to, at->second.keeping};
    copies_.erase(at);
    return arrived;
  }
  void lose(int rank) {
    std::erase_if(copies_, [&](auto const& c) { return c.second.next.to == rank; });
  }

 private:
  struct Copy {
    CheckpointMessage next;
    Id keeping;
    std::size_t under_way = 0;
    bool is_sent = false;
  };
  void send_piece(Copy& copy) {
    if (copy.is_sent) return;
    auto& next = copy.next;
    auto const total = next.content->size();
    next.size = std::min(policy_.bytes, total - static_cast<std::size_t>(next.head.offset));
    messages_.push_back(next);
    next.head.offset += next.size;
    copy.is_sent = next.head.offset == total;
    ++copy.under_way;
  }

  PiecePolicy const policy_;
  std::vector<CheckpointMessage>& messages_;
  std::map<Id, Copy> copies_;
};

class PiecesIn {
 public:
  // Of a copy that is wanted. Returns the copy when this was its last piece.
  CheckpointContent take(int from, CheckpointHead const& head, byte_view piece) {
    auto& coming = coming_[{from, head.id}];
    if (head.offset == 0) coming.reserve(static_cast<std::size_t>(head.total_bytes));
    NIGH_ASSERT(coming.size() == head.offset, "pieces come in order");
    coming.insert(coming.end(), piece.begin(), piece.end());
    if (coming.size() < head.total_bytes) return nullptr;
    auto whole = std::make_shared<bytes const>(std::move(coming));
    drop(from, head.id);
    return whole;
  }
  // False: an earlier piece was not wanted.
  bool continues(int from, CheckpointHead const& head) const {
    return head.offset == 0 || coming_.contains({from, head.id});
  }
  void drop(int from, std::uint64_t id) { coming_.erase({from, id}); }
  void lose(int rank) {
    std::erase_if(coming_, [&](auto const& c) { return c.first.first == rank; });
  }

 private:
  std::map<std::pair<int, std::uint64_t>, bytes> coming_;  // [sender and its id]
};

}  // namespace nigh::cluster
