// SPDX-License-Identifier: Apache-2.0
#pragma once
// parallel_pipeline(tokens, stages...): items go through stages, several at once.

#include <nigh/detail/cxx20.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <new>
#include <nigh/detail/owned.hpp>
#include <nigh/detail/stage_gate.hpp>
#include <nigh/detail/standard_parts.hpp>
#include <nigh/stop_token.hpp>
#include <nigh/task_scope.hpp>
#include <optional>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace nigh {

enum class stage_mode : std::uint8_t {
  parallel,             // any number of items at once, in any order
  serial_in_order,      // one item at a time, in the order in which the first stage gave them
  serial_out_of_order,  // one item at a time, as they come
};

template <class F>
struct pipeline_stage {
  stage_mode mode;
  F function;
};
template <class F>
pipeline_stage<std::decay_t<F>> stage(stage_mode mode, F&& function) {
  return {mode, std::forward<F>(function)};
}

struct pipeline_options {
  std::size_t tokens = 0;    // at most so many items are under way; at least 1
  stop_token stop = {};      // when it is set, nothing more begins
  runtime* where = nullptr;  // null: the calling worker's, else the default one
};

namespace detail {

template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;

// The part that is the same for all pipelines.
class pipeline_host {
 public:
  pipeline_host(pipeline_host&&) = delete;
  pipeline_host& operator=(pipeline_host&&) = delete;

 protected:
  using entry = void (*)(pipeline_host& self, pipeline_token& token, pipeline_token*& todo);

  pipeline_host(pipeline_options const& options, entry run)
      : scope_({.where = options.where, .rule = on_exception::cancel, .parent = options.stop}),
        run_(run),
        tokens_(checked(options.tokens)),
        slots_(std::bit_ceil(tokens_)),
        credits_(static_cast<std::int64_t>(tokens_) - 1) {}
  ~pipeline_host() = default;

  void run_all() {
    scope_.spawn(job{this, &source_});
    scope_.wait();
  }
  // Another thread may go on with the token; if there is no room for it where others look, this
  // thread does later.
  void give(pipeline_token& token, pipeline_token*& todo) noexcept {
    if (scope_.put(job{this, &token})) return;
    token.next = todo;
    todo = &token;
  }

  task_scope scope_;
  entry const run_;
  std::size_t const tokens_, slots_;
  token_credits credits_;
  free_tokens free_;
  place_counter items_;
  pipeline_token source_;  // stands for the right to call the first stage

 private:
  struct job {
    pipeline_host* self;
    pipeline_token* token;
    void operator()() const {
      token->next = nullptr;
      for (auto* todo = token; todo != nullptr && !self->scope_.stop_requested();) {
        auto& one = *todo;
        todo = one.next;
        self->run_(*self, one, todo);
      }
    }
  };
  static std::size_t checked(std::size_t tokens) {
    if (tokens == 0 || tokens > std::size_t{1} << 31)
      throw std::invalid_argument("parallel_pipeline: from 1 to 2^31 tokens");
    return tokens;
  }
};

// The item's type after each stage; that of the last one is not kept.
template <class In, class... F>
struct pipeline_items;
template <class In, class F>
struct pipeline_items<In, F> {
  static_assert(std::is_invocable_v<F&, In>,
                "the last stage cannot be called with what the stage before it returns");
  using types = std::tuple<In>;
};
template <class In, class F, class... Rest>
struct pipeline_items<In, F, Rest...> {
  static_assert(std::is_invocable_v<F&, In>,
                "a stage cannot be called with what the stage before it returns");
  using out = std::decay_t<std::invoke_result_t<F&, In>>;
  static_assert(!std::is_void_v<out>, "a stage before the last one returns the item for the next");
  using types = decltype(std::tuple_cat(
      std::declval<std::tuple<In>>(), std::declval<typename pipeline_items<out, Rest...>::types>()));
};

template <class First, class... F>
class pipeline final : pipeline_host {
  using given = std::invoke_result_t<First&>;
  static_assert(is_optional<std::decay_t<given>>,
                "the first stage returns a std::optional, which is empty after the last item");
  using items = typename pipeline_items<typename std::decay_t<given>::value_type, F...>::types;
  static constexpr std::size_t stages = 1 + sizeof...(F);
  template <std::size_t I>
  using item = std::tuple_element_t<I, items>;  // after stage I

  // Where an item waits between two stages.
  struct token : pipeline_token {
    template <std::size_t I, class... Args>
    void put(Args&&... args) {
      ::new (static_cast<void*>(room)) item<I>(std::forward<Args>(args)...);
      holds = I;
    }
    template <std::size_t I>
    item<I>& get() noexcept {
      return *std::launder(reinterpret_cast<item<I>*>(room));
    }
    template <std::size_t I>
    void clear() noexcept {
      std::destroy_at(&get<I>());
      holds = none;
    }
    ~token() {
      [this]<std::size_t... I>(std::index_sequence<I...>) {
        static_cast<void>(((holds == I && (clear<I>(), true)) || ...));
      }(std::make_index_sequence<stages - 1>());
    }

    static constexpr std::size_t none = stages;
    static constexpr auto room_bytes = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::max({sizeof(item<I>)...});
    }(std::make_index_sequence<stages - 1>());
    static constexpr auto room_align = []<std::size_t... I>(std::index_sequence<I...>) {
      return std::max({alignof(item<I>)...});
    }(std::make_index_sequence<stages - 1>());
    std::size_t holds = none;
    alignas(room_align) std::byte room[room_bytes];
  };

 public:
  pipeline(pipeline_options const& options, pipeline_stage<First>& first, pipeline_stage<F>&... more)
      : pipeline_host(options, &run_token), stages_(first, more...) {
    [this]<std::size_t... I>(std::index_sequence<I...>) {
      ((mode<I>() != stage_mode::parallel
            ? static_cast<void>(gates_[I].reset(new stage_gate(slots_)))
            : static_cast<void>(0)),
       ...);
    }(std::make_index_sequence<stages>());
    run_all();
  }

 private:
  template <std::size_t I>
  auto& stage_at() noexcept {
    return std::get<I>(stages_);
  }
  template <std::size_t I>
  stage_mode mode() noexcept {
    return stage_at<I>().mode;
  }

  static void run_token(pipeline_host& host, pipeline_token& one, pipeline_token*& todo) {
    auto& self = static_cast<pipeline&>(host);
    if (&one == &self.source_) return self.begin_item(todo);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      static_cast<void>(((one.stage == I + 1 &&
                          (self.template enter<I + 1>(static_cast<token&>(one), todo), true)) ||
                         ...));
    }(std::make_index_sequence<stages - 1>());
  }

  // One thread at a time: that with the right to call the first stage. It passes the right on
  // before it calls a parallel one, and after it has called a serial one.
  void begin_item(pipeline_token*& todo) {
    bool const at_once = mode<0>() == stage_mode::parallel;
    if (at_once && source_ended_.load(sync::relaxed)) return;
    auto& mine = take_token();
    if (at_once) pass_on(todo);
    auto got = detail::call(stage_at<0>().function);
    if (!got) {
      source_ended_.store(true, sync::relaxed);
      return;
    }
    mine.template put<0>(*std::move(got));
    mine.number = items_.next();
    if (!at_once) pass_on(todo);
    come_to<1>(mine, todo);
  }
  void pass_on(pipeline_token*& todo) noexcept {
    if (credits_.take()) give(source_, todo);
  }
  token& take_token() {
    if (at_hand_ == nullptr) at_hand_ = free_.take_all();
    if (at_hand_ == nullptr) {
      detail::owned<token> made(new token());
      all_.push_back(std::move(made));
      return *all_.back();
    }
    return static_cast<token&>(*std::exchange(at_hand_, at_hand_->next));
  }

  template <std::size_t I>
  void come_to(token& one, pipeline_token*& todo) {
    if (mode<I>() != stage_mode::parallel) {
      auto& gate = *gates_[I];
      one.stage = I;
      one.place = mode<I>() == stage_mode::serial_in_order ? one.number : gate.arrivals.next();
      if (!gate.arrive(one)) return;
    }
    enter<I>(one, todo);
  }

  template <std::size_t I>
  void enter(token& one, pipeline_token*& todo) {
    if (scope_.stop_requested()) return;
    {
      item<I - 1> in(std::move(one.template get<I - 1>()));
      one.template clear<I - 1>();
      if constexpr (I + 1 < stages)
        one.template put<I>(detail::call(stage_at<I>().function, std::move(in)));
      else
        static_cast<void>(detail::call(stage_at<I>().function, std::move(in)));
    }
    if (mode<I>() != stage_mode::parallel)
      if (auto* const next = gates_[I]->leave(one.place)) give(*next, todo);
    if constexpr (I + 1 < stages) {
      come_to<I + 1>(one, todo);
    } else {
      free_.put(one);
      if (credits_.give_back()) give(source_, todo);
    }
  }

  std::tuple<pipeline_stage<First>&, pipeline_stage<F>&...> stages_;
  std::array<detail::owned<stage_gate>, stages> gates_;  // of serial stages
  std::vector<detail::owned<token>> all_;  // these two are for the thread that begins an item
  pipeline_token* at_hand_ = nullptr;
  sync::atomic<bool> source_ended_{false};
};

}  // namespace detail

// Calls the first stage for items until it returns an empty std::optional, and takes each item
// through all stages: each gets what the one before it returns, by value, so moved. Two stages or
// more; what the last one returns is dropped. Each item stays with the thread that began it as far
// as possible. No thread waits for a stage's turn: an item that comes too early is left there, and
// whoever leaves the stage hands it on. So with one token the stages run one after the other, and
// with one thread all the same.
//
// Returns when all items have gone through; the calling thread takes part. When a stage throws, or
// options.stop is set, no stage is called again, items under way are destroyed, and the first
// exception is rethrown. A stage that is serial_in_order has seen the first so many items then. A
// function is called by several threads at once only if its stage is parallel; a parallel first
// stage may be called a few times more after it was empty.
//
// Memory: up to `tokens` items with one allocation each, and 16 to 32 bytes x tokens for each
// serial stage. Time for each item: an atomic exchange or two in each serial stage, four more operations
// in all, and a spawn for each item that somebody else could take. A pipeline runs in a task_scope
// (task_scope.hpp): pipelines nest, and stages may use all else. Hold no lock across a stage's
// waits. std::invalid_argument for no tokens, or more than 2^31.
template <class First, class... F>
  requires(sizeof...(F) >= 1)
void parallel_pipeline(pipeline_options const& options, pipeline_stage<First> first,
                       pipeline_stage<F>... more) {
  detail::pipeline<First, F...> const run(options, first, more...);
}
template <class First, class... F>
  requires(sizeof...(F) >= 1)
void parallel_pipeline(std::size_t tokens, pipeline_stage<First> first, pipeline_stage<F>... more) {
  nigh::parallel_pipeline(pipeline_options{.tokens = tokens}, std::move(first), std::move(more)...);
}

}  // namespace nigh
