// SPDX-License-Identifier: Apache-2.0
#pragma once
// std::execution::parallel_scheduler (P2079) on nigh: replaces the back end of stdexec, the reference
// implementation of C++26's senders (github.com/NVIDIA/stdexec).
//
//   #include <nigh/parallel_scheduler.hpp>  // in one source of the program
//
// Every get_parallel_scheduler() of the program then schedules on nigh::default_runtime(). The header
// defines query_parallel_scheduler_backend(), so one source only includes it. stdexec's own library
// parallel_scheduler may be linked after it, and is not used then; what that library can do beyond
// P2079, set_parallel_scheduler_backend(), has no effect.
//
// schedule() makes a task of the runtime. bulk_chunked() and bulk_unchunked() make one that runs a
// parallel loop: its chunks are the loop's pieces. An operation whose stop token was asked to stop
// before its task began is stopped. An exception of a bulk's function ends the program: stdexec calls
// it by a function that is noexcept. Nothing is allocated, and the preallocated storage is not used, on
// up to 32 workers. A worker completes an operation; where the runtime's queues are full, the thread
// that starts the operation does. Any thread may start operations. An error, std::exception_ptr, comes
// where no runtime can be made, or none in this process (nigh/runtime.hpp, fork()). A worker
// that calls sync_wait() sleeps: a nigh::blocking_scope around it has another thread work meanwhile.

#include <nigh/detail/cxx20.hpp>

#if !__has_include(<stdexec/__detail/__parallel_scheduler_replacement_api.hpp>)
#error "nigh/parallel_scheduler.hpp replaces a part of stdexec: compile with -I and the include folder of a stdexec that has parallel_scheduler_replacement"
#elif defined(STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY)
#error "nigh/parallel_scheduler.hpp replaces what STDEXEC_PARALLEL_SCHEDULER_HEADER_ONLY defines: compile without that macro"
#endif

#include <cstddef>
#include <exception>
#include <memory>
#include <nigh/parallel_for.hpp>
#include <nigh/runtime.hpp>
#include <span>
#include <stdexec/execution.hpp>
#include <type_traits>

namespace nigh::detail {

class parallel_scheduler_backend final
    : public STDEXEC::parallel_scheduler_replacement::parallel_scheduler_backend {
  using receiver = STDEXEC::parallel_scheduler_replacement::receiver_proxy;
  using bulk_receiver = STDEXEC::parallel_scheduler_replacement::bulk_item_receiver_proxy;

 public:
  void schedule(receiver& to, std::span<std::byte>) noexcept override {
    spawn(to, [&to] { to.set_value(); });
  }
  void schedule_bulk_chunked(std::size_t count, bulk_receiver& to,
                             std::span<std::byte>) noexcept override {
    spawn_loop(to, [&to, count] {
      nigh::parallel_for(std::size_t{0}, count, [&to](index_range r) { to.execute(r.begin, r.end); });
    });
  }
  void schedule_bulk_unchunked(std::size_t count, bulk_receiver& to,
                               std::span<std::byte>) noexcept override {
    spawn_loop(to, [&to, count] {
      nigh::parallel_for(std::size_t{0}, count, [&to](std::size_t i) { to.execute(i, i + 1); });
    });
  }

 private:
  // A loop may throw at its beginning.
  template <class Loop>
  static void spawn_loop(bulk_receiver& to, Loop const& loop) noexcept {
    spawn(to, [&to, loop] {
      try {
        loop();
      } catch (...) {
        return to.set_error(std::current_exception());
      }
      to.set_value();
    });
  }

  // The receiver ends its operation, and may be gone once it has been told something.
  template <class F>
  static void spawn(receiver& to, F const& work) noexcept {
    try {
      auto const operation = [&to, work]() noexcept {
        auto const stop = to.template try_query<STDEXEC::inplace_stop_token>(STDEXEC::get_stop_token);
        if (stop && stop->stop_requested())
          to.set_stopped();
        else
          work();
      };
      static_assert(sizeof operation <= task::inline_bytes && std::is_trivially_copyable_v<decltype(operation)>,
                    "the runtime keeps it in its queue, not on the heap");
      nigh::default_runtime().spawn(operation);
    } catch (...) {  // no runtime could be made
      to.set_error(std::current_exception());
    }
  }
};

}  // namespace nigh::detail

namespace STDEXEC::parallel_scheduler_replacement {

std::shared_ptr<parallel_scheduler_backend> query_parallel_scheduler_backend() {
  static auto const backend = std::make_shared<nigh::detail::parallel_scheduler_backend>();
  return backend;
}

}  // namespace STDEXEC::parallel_scheduler_replacement
