// SPDX-License-Identifier: Apache-2.0
// One thread, plane after plane.
#include "npb_mg/one_caller.hpp"

namespace npb_mg {

namespace {

class Serial {
 public:
  explicit Serial(Team const& team) { team.pin_thread(0); }

  template <class Body>
  void run(Body const& body) {
    body();
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    for (auto k = first; k < last; ++k) body(k);
  }
};

}  // namespace

void add_serial(std::vector<VariantInfo>& list) {
  list.push_back({"serial", make_one_caller<Serial>, {}});
}

}  // namespace npb_mg
