// SPDX-License-Identifier: Apache-2.0
#pragma once
// The terminal: shows rows, and returns the keys pressed. The object's end restores it.

#include <optional>
#include <string>

#include "cli/top/frame.hpp"
#include "cli/top/layout.hpp"
#include "cli/top/view.hpp"

namespace nigh::cli::top {

// The signs that the user's locale has.
Signs const& signs_of_locale();

class Terminal {
 public:
  // Empty if it can be drawn on; otherwise why not.
  static std::string why_not();

  Terminal();
  ~Terminal();
  Terminal(Terminal&&) = delete;
  Terminal& operator=(Terminal&&) = delete;

  int width() const;
  int height() const;
  void draw(Screen const& screen);
  // Nothing when no key waits. The terminal's size may have changed after it.
  std::optional<Key> key();

 private:
  unsigned long attributes_of(Style style) const;

  int colours_ = 0;  // for programs; 0: no colours at all
};

}  // namespace nigh::cli::top
