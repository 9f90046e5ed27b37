// SPDX-License-Identifier: Apache-2.0
// OpenCilk: cilk_for over planes. Its runtime takes the number of its workers from CILK_NWORKERS,
// once for a program.
#include <cilk/cilk.h>
#include <cilk/cilk_api.h>

#include <stdexcept>

#include "npb_mg/plain_cycle.hpp"

namespace npb_mg {

namespace {

class Cilk {
 public:
  explicit Cilk(Team const& team) {
    if (static_cast<int>(__cilkrts_get_nworkers()) != team.threads())
      throw std::runtime_error("OpenCilk runs " + std::to_string(__cilkrts_get_nworkers()) +
                               " workers in this program: CILK_NWORKERS says how many");
  }

  template <class Body>
  void run(Body const& body) {
    body();
  }
  template <class Body>
  void operator()(std::ptrdiff_t first, std::ptrdiff_t last, Body const& body) {
    cilk_for(std::ptrdiff_t k = first; k < last; ++k) body(k);
  }
};

}  // namespace

void add_cilk(std::vector<VariantInfo>& list) {
  list.push_back({"cilk/for", make_one_caller<Cilk>, {}});
}

}  // namespace npb_mg
