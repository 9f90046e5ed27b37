// SPDX-License-Identifier: Apache-2.0
#include "cli/top/live.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stdexcept>

#include "cli/top/layout.hpp"
#include "cli/top/source.hpp"
#include "cli/top/terminal.hpp"
#include "cli/top/view.hpp"
#include "platform/event_set.hpp"
#include "platform/service.hpp"
#include "platform/terminal.hpp"

namespace nigh::cli::top {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t key_came = 0, signal_came = 1;
// A hanging coordinator must not hold up keys for long.
constexpr int patience_ms = 200;

template <class T>
T wanted(result<T> got) {
  if (!got) throw std::runtime_error(got.message());
  if constexpr (!std::is_void_v<T>) return std::move(got).value();
}

class Watch {
 public:
  Watch(std::string const& socket, MachineTree const& machine, double delay_s)
      : source_(socket), machine_(machine), events_(wanted(platform::EventSet::make())) {
    view_.delay_s = delay_s;
    signals_ = wanted(platform::ending_signals());
    wanted(events_.add(platform::standard_input, key_came));
    wanted(events_.add(signals_, signal_came));
  }

  int run() {
    for (;;) {
      if (next_ && *next_ <= Clock::now()) look();
      terminal_.draw(shown());
      bool has_key = false;
      for (auto const name : events_.wait(until_next())) {
        if (name == signal_came) return 128 + platform::arrived_signal(signals_);
        has_key = true;
      }
      auto const wish = hear_keys(has_key);
      if (wish == Wish::quit) return 0;
      if (wish == Wish::look_again) look();
      if (view_.is_paused)
        next_.reset();
      else if (!next_)
        next_ = Clock::now();
    }
  }

 private:
  void look() {
    source_.look(patience_ms);
    auto const delay = std::chrono::duration<double>(view_.delay_s);
    next_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(delay);
  }

  Screen shown() {
    Scene const scene{source_.sample(), machine_, source_.letters(), signs_of_locale()};
    auto screen = lay_out(view_, scene, terminal_.width(), terminal_.height());
    room_ = screen.room;
    return screen;
  }

  // The signal of a terminal that changes its size may come just before we sleep, and then wakes
  // nobody.
  std::int64_t until_next() const {
    constexpr std::int64_t most_us = 500'000;
    if (!next_) return most_us;
    auto const rest = std::chrono::duration_cast<std::chrono::microseconds>(*next_ - Clock::now());
    return std::clamp<std::int64_t>(rest.count(), 0, most_us);
  }

  // All waiting keys. A terminal that is gone is readable for ever, and has none.
  Wish hear_keys(bool has_key) {
    Wish wish = Wish::nothing;
    int heard = 0;
    double const delay = view_.delay_s;
    while (auto const key = terminal_.key()) {
      ++heard;
      auto const now = press(view_, *key, source_.sample(), room_);
      if (now != Wish::nothing) wish = now;
      if (wish == Wish::quit) return wish;
      shown();  // keys refer to the present screen
    }
    silent_ = has_key && heard == 0 ? silent_ + 1 : 0;
    if (silent_ > 100) return Wish::quit;
    return delay != view_.delay_s ? Wish::look_again : wish;
  }

  Source source_;
  MachineTree const& machine_;
  platform::EventSet events_;
  int signals_ = -1;
  View view_;
  Room room_;
  std::optional<Clock::time_point> next_ = Clock::now();
  int silent_ = 0;
  Terminal terminal_;
};

}  // namespace

int watch(std::string const& socket, MachineTree const& machine, double delay_s) {
  return Watch(socket, machine, delay_s).run();
}

}  // namespace nigh::cli::top
