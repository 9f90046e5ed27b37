// SPDX-License-Identifier: Apache-2.0
#include "cluster/watch/link.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <utility>

#include "platform/local_socket.hpp"
#include "platform/tcp.hpp"

namespace nigh::cluster {

Link::Link(Link&& from) noexcept { *this = std::move(from); }

Link& Link::operator=(Link&& from) noexcept {
  std::swap(socket_, from.socket_);
  std::swap(ended_, from.ended_);
  std::swap(waiting_, from.waiting_);
  std::swap(waiting_count_, from.waiting_count_);
  std::swap(arriving_, from.arriving_);
  std::swap(arrived_, from.arrived_);
  return *this;
}

Link::~Link() { close(); }

void Link::close() noexcept {
  platform::close_descriptor(socket_);
  socket_ = -1;
}

void Link::send(Frame const& frame) noexcept {
  flush();
  bool const is_beat = frame.kind == Frame::Kind::ring && frame.said == RingMessage::Kind::beat;
  if (waiting_count_ + sizeof frame > waiting_.size() || (is_beat && !is_flushed())) return;
  std::memcpy(waiting_.data() + waiting_count_, &frame, sizeof frame);
  waiting_count_ += sizeof frame;
  flush();
}

void Link::flush() noexcept {
  while (!is_flushed()) {
    int const sent = platform::send_tcp(socket_, std::span(waiting_).first(waiting_count_));
    if (sent <= 0) return;  // receive() finds out whether it is broken
    auto const count = static_cast<std::size_t>(sent);
    waiting_count_ -= count;
    std::memmove(waiting_.data(), waiting_.data() + count, waiting_count_);
  }
}

std::optional<Frame> Link::receive() noexcept {
  while (!ended_) {
    int const count = platform::receive_tcp(socket_, std::span(arriving_).subspan(arrived_));
    if (count == -EAGAIN) return std::nullopt;
    if (count <= 0) break;
    arrived_ += static_cast<std::size_t>(count);
    if (arrived_ < arriving_.size()) continue;
    arrived_ = 0;
    Frame frame;
    std::memcpy(&frame, arriving_.data(), sizeof frame);
    if (frame.mark != Frame::first_word) break;
    return frame;
  }
  ended_ = true;
  return std::nullopt;
}

void Link::end_sending() noexcept { platform::end_sending(socket_); }

}  // namespace nigh::cluster
