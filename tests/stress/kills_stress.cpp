// SPDX-License-Identifier: Apache-2.0
// Programs and nighd are killed (SIGKILL) at random moments, under load. No two regions may have a
// cpu at the same time, as long as it is the same nighd that granted both; those who live go on; in
// the end all cpus are free again.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "arguments.hpp"
#include "coordinator/client/lease_client.hpp"
#include "coordinator/client/status.hpp"

namespace {

using namespace nigh::coordinator;
using Random = std::mt19937_64;

constexpr int programs = 6, kills = 25;

// Shared by all processes.
struct ProgramState {
  std::atomic<long> regions{0};  // that had cpus from the coordinator
  std::atomic<bool> is_dying{false};
};
struct Board {
  ProgramState states[programs];
  std::atomic<int> program_of_cpu[max_cpus];  // 1 + that whose region has it; 0: nobody's
  std::atomic<int> daemons{0};                // that there were
  std::atomic<long> collisions{0};
};

// Two have a cpu, and neither is dead or has it from a nighd that is.
void occupy(Board& board, int p, GrantedTeam const& team, int daemon) {
  for (std::uint32_t i = 0; i < team.size; ++i) {
    int const other = board.program_of_cpu[team.cpus[i]].exchange(p + 1);
    if (other != 0 && other != p + 1 && !board.states[other - 1].is_dying &&
        board.daemons == daemon)
      ++board.collisions;
  }
}
void vacate(Board& board, int p, GrantedTeam const& team) {
  for (std::uint32_t i = 0; i < team.size; ++i) {
    int mine = p + 1;
    board.program_of_cpu[team.cpus[i]].compare_exchange_strong(mine, 0);
  }
}

// Enters regions until it is killed.
[[noreturn]] void be_program(Board& board, int p, ConnectionOptions const& options,
                             std::uint64_t seed) {
  Random random(seed);
  ClientConnection program;
  program.join(options);
  LeaseClient client(program);
  for (;;) {
    int const daemon = board.daemons;
    auto const team = client.enter(random() % 4, {static_cast<std::uint32_t>(random() % 8 + 1), 1});
    if (team.size > 0) {
      if (daemon == 1) occupy(board, p, team, daemon);
      ++board.states[p].regions;
    }
    ::usleep(static_cast<unsigned>(random() % 300));
    if (team.size > 0) vacate(board, p, team);
    client.leave(20'000'000);  // as if it had been long: every fifth is reported
    if (random() % 8 == 0) ::usleep(static_cast<unsigned>(random() % 3000));
  }
}

class Scene {
 public:
  Scene(std::uint64_t seed) : random_(seed) {
    char name[] = "/tmp/nigh-kills-XXXXXX";
    directory_ = ::mkdtemp(name);
    socket_ = directory_ / "nighd.sock";
    void* const shared =
        ::mmap(nullptr, sizeof(Board), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) throw std::runtime_error("no shared memory");
    board_ = new (shared) Board();
    start_daemon();
    for (int p = 0; p < programs; ++p) start(p);
  }
  ~Scene() {
    for (int p = 0; p < programs; ++p) kill_program(p);
    kill_daemon();
    std::filesystem::remove_all(directory_);
    ::munmap(board_, sizeof(Board));
  }
  Scene(Scene const&) = delete;

  void play() {
    for (int k = 0; k < kills; ++k) {
      ::usleep(static_cast<unsigned>(random_() % 4000));
      // The first half is strict: it is all the same nighd.
      if (k >= kills / 2 && random_() % 4 == 0) {
        kill_daemon();
        start_daemon();
      } else {
        auto const p = static_cast<int>(random_() % programs);
        kill_program(p);
        start(p);
      }
    }
    everybody_goes_on();
    for (int p = 0; p < programs; ++p) kill_program(p);
    // Comes true, or the test hangs until its time is up.
    for (;;) {
      auto const s = query_status(socket_);
      if (!s) throw std::runtime_error("nighd does not answer: " + s.message());
      if (s->host.programs == 0 && s->host.free == s->host.cpus && s->host.waiting == 0) break;
      ::usleep(1000);
    }
    if (board_->collisions > 0)
      throw std::runtime_error(std::to_string(board_->collisions) + " times a cpu had two owners");
  }

 private:
  void everybody_goes_on() {
    for (auto& one : board_->states) {
      long const before = one.regions;
      while (one.regions < before + 5) ::usleep(1000);
    }
  }

  void start(int p) {
    auto const seed = random_();
    board_->states[p].is_dying = false;
    programs_[p] = ::fork();
    if (programs_[p] == 0) {
      CpuSet all;
      for (int cpu = 0; cpu < max_cpus; ++cpu) all.add(cpu);
      be_program(*board_, p,
                 {.socket = socket_.c_str(), .name = "victim", .allowed = all, .binary = 1}, seed);
    }
  }
  void kill_program(int p) {
    if (programs_[p] <= 0) return;
    board_->states[p].is_dying = true;
    end(programs_[p]);
    for (auto& cpu : board_->program_of_cpu) {
      int its = p + 1;
      cpu.compare_exchange_strong(its, 0);
    }
  }

  void start_daemon() {
    daemon_ = ::fork();
    if (daemon_ == 0) {
      int const nothing = ::open("/dev/null", O_WRONLY);
      ::dup2(nothing, STDERR_FILENO);
      ::execl(NIGHD, NIGHD, "--foreground", "--socket", socket_.c_str(), "--slice", "1",
              "--profiles", (directory_ / "profiles").c_str(), "--overdue", "500", "--idle-exit",
              "0", nullptr);
      ::_exit(127);
    }
    ++board_->daemons;
    while (!query_status(socket_)) {
      if (::waitpid(daemon_, nullptr, WNOHANG) != 0) throw std::runtime_error("nighd ended");
      ::usleep(1000);
    }
  }
  void kill_daemon() {
    ++board_->daemons;
    end(daemon_);
  }
  static void end(pid_t& process) {
    if (process <= 0) return;
    ::kill(process, SIGKILL);
    ::waitpid(process, nullptr, 0);
    process = 0;
  }

  Random random_;
  std::filesystem::path directory_;
  std::string socket_;
  Board* board_ = nullptr;
  pid_t programs_[programs] = {};
  pid_t daemon_ = 0;
};

void play_round(std::uint64_t seed, std::uint64_t) { Scene(seed).play(); }

}  // namespace

int main(int argc, char** argv) { return stress::play(argc, argv, 1, play_round); }
