// SPDX-License-Identifier: Apache-2.0
#include "platform/progress.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/printable.hpp"
#include "platform/terminal.hpp"
#include "platform/thread.hpp"

namespace nigh::platform {
namespace {

constexpr std::chrono::seconds quiet{2};  // before the first line
constexpr std::chrono::seconds between{1};

// Straight to the terminal: a program may be forked while this thread holds a lock of stdio.
void put(std::string_view text) noexcept {
  while (!text.empty()) {
    auto const n = ::write(STDERR_FILENO, text.data(), text.size());
    if (n <= 0) return;
    text.remove_prefix(static_cast<std::size_t>(n));
  }
}

std::size_t columns() noexcept {
  winsize size{};
  constexpr std::size_t usual = 80;
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : usual;
}

// Whether a line can be erased, and is ours to write: a job in the background has no terminal.
bool has_a_line() noexcept {
  auto const* const term = std::getenv("TERM");
  bool const can_erase = term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
  return can_erase && errors_go_to_a_terminal() && ::tcgetpgrp(STDERR_FILENO) == ::getpgrp();
}

// Whole seconds, or minutes where they are many.
std::string time_text(double seconds) {
  auto const whole = static_cast<long>(std::max(0.0, seconds) + 0.5);
  constexpr long minute = 60, many = 10 * minute;
  return whole < many ? std::to_string(whole) + " s" : std::to_string(whole / minute) + " min";
}

// At most so many characters.
std::string cut(std::string_view text, std::size_t most) {
  std::string out;
  for (std::size_t n = 0; !text.empty() && n < most; ++n) {
    auto const bytes = base::first_character(text).bytes;
    out += text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace

std::string progress_line(ProgressState const& state, double seconds, double since_state,
                          std::size_t columns) {
  std::string line;
  if (state.all > 0) {
    constexpr int width = 20;
    auto const done = std::clamp(state.done, 0, state.all);
    auto const full = static_cast<std::size_t>(width * static_cast<std::int64_t>(done) / state.all);
    line = '[' + std::string(full, '#') + std::string(width - full, '.') + "] " +
           std::to_string(done) + " of " + (state.are_at_most ? "at most " : "") +
           std::to_string(state.all) + ", ";
    auto left = state.seconds_left;
    if (!left && done > 0) left = (seconds - since_state) / done * (state.all - done);
    line += left ? (state.are_at_most ? "at most " : "") + time_text(*left - since_state) + " left"
                 : time_text(seconds);
  } else {
    line = time_text(seconds);
  }
  if (!state.doing.empty()) line += "  " + base::printable(state.doing);
  return cut(line, columns > 1 ? columns - 1 : 0);
}

Progress::Progress(int steps) {
  state_.done = -1;
  state_.all = steps;
  if (!has_a_line() || !bell_.is_in_order()) return;
  try {
    thread_ = std::thread([this] { redraw_until_told(); });
  } catch (std::system_error const&) {
    return;  // no room for a thread: the command does its work without saying so
  }
  std::scoped_lock const lock(line_mutex_);
  if (current_ != nullptr) current_->erase();
  before_ = std::exchange(current_, this);
}

Progress::~Progress() {
  if (!thread_.joinable()) return;
  {
    std::scoped_lock const lock(line_mutex_, mutex_);
    if (current_ == this) current_ = before_;
    is_over_ = true;
  }
  bell_.ring();
  thread_.join();
  std::scoped_lock const lock(line_mutex_);
  erase();
}

void Progress::step(std::string doing) {
  std::scoped_lock const lock(mutex_);
  ++state_.done;
  state_.doing = std::move(doing);
  told_ = Clock::now();
}

void Progress::show(ProgressState state) {
  std::scoped_lock const lock(mutex_);
  state_ = std::move(state);
  told_ = Clock::now();
}

void Progress::make_way() {
  std::scoped_lock const lock(line_mutex_);
  if (current_ != nullptr) current_->erase();
}

void Progress::redraw_until_told() {
  leave_signals_to_others();
  for (auto next = start_ + quiet;;) {
    auto const wait = std::chrono::duration_cast<std::chrono::microseconds>(next - Clock::now());
    if (wait.count() > 0) bell_.wait(-1, wait.count());
    std::scoped_lock const lock(line_mutex_, mutex_);
    if (is_over_) return;
    if (Clock::now() < next) continue;
    if (current_ == this) draw();
    next += between;
  }
}

void Progress::draw() {
  using Seconds = std::chrono::duration<double>;
  auto const now = Clock::now();
  put("\r\033[K" + progress_line(state_, Seconds(now - start_).count(),
                                 Seconds(now - told_).count(), columns()));
  is_drawn_ = true;
}

void Progress::erase() {
  if (std::exchange(is_drawn_, false)) put("\r\033[K");
}

}  // namespace nigh::platform
