// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terminal: shows rows, and says which keys were pressed. It is as it was when the object ends.

#include <optional>
#include <string>

#include "cli/top/frame.hpp"
#include "cli/top/layout.hpp"
#include "cli/top/view.hpp"

namespace nigh::cli::top {

// What the user's locale has.
Signs const& signs_of_locale();

class Terminal {
 public:
  // Empty if there is one that can be drawn on.
  static std::string why_not();

  Terminal();
  ~Terminal();
  Terminal(Terminal&&) = delete;
  Terminal& operator=(Terminal&&) = delete;

  int width() const;
  int height() const;
  void draw(Screen const& screen);
  // Nothing when none waits. The terminal's size may have changed behind it.
  std::optional<Key> key();

 private:
  unsigned long attributes_of(Style style) const;

  int colours_ = 0;  // for programs; 0: no colours at all
};

}  // namespace nigh::cli::top
