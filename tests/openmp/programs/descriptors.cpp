// SPDX-License-Identifier: Apache-2.0
// descriptors HOW [fill] [REGIONS]: closes its descriptors between regions, opens files and sockets
// of its own, runs more regions (100), and tells whether anybody else has touched what it opened.
// HOW it closes them: one by one (each), close_range (range), closefrom (from), the same by a bare
// system call (bare), by putting one of its own over each (dup2, dup3); in a child that lives on
// when its parent has ended (daemon). fill: every number up to 1023 is in use then.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

constexpr int first = 3, end = 1024;

void regions(int count) {
  for (int i = 0; i < count; ++i) {
    long sum = 0;
#pragma omp parallel for reduction(+ : sum)
    for (int k = 0; k < 1000; ++k) sum += k;
    if (sum != 499500) std::printf("a region has summed to %ld\n", sum);
    if (i % 10 == 0) usleep(1000);
  }
}

void close_one_by_one() {
  for (int n = first; n < end; ++n) close(n);
}

// The file behind a descriptor's number.
struct Opened {
  int number = -1;
  dev_t device{};
  ino_t inode{};

  static Opened at(int number) {
    struct stat what{};
    if (fstat(number, &what) != 0) return {};
    return {number, what.st_dev, what.st_ino};
  }
  bool is_there() const {
    auto const now = at(number);
    return now.number >= 0 && now.device == device && now.inode == inode;
  }
};

class Own {
 public:
  explicit Own(bool fills) {
    for (int i = 0; i < 6; ++i) {
      char name[] = "/tmp/descriptors-XXXXXX";
      add(files_, mkstemp(name));
      unlink(name);
    }
    for (int i = 0; i < 6; ++i) {
      int pair[2];
      if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) != 0) std::abort();
      add(sockets_, pair[0]);
      add(sockets_, pair[1]);
    }
    for (int n = 0; fills && n >= 0 && n < end - 1;)
      if (n = dup(sockets_[0].number); n >= 0) add(others_, n);
  }
  // dup2() and dup3() from where a file of ours is.
  void add_others(std::vector<int> const& numbers) {
    for (int const n : numbers) add(others_, n);
  }

  bool is_untouched() const {
    bool good = true;
    auto const complain = [&](Opened const& o, char const* what) {
      std::printf("%d %s\n", o.number, what);
      good = false;
    };
    for (auto const* all : {&files_, &sockets_, &others_})
      for (Opened const& o : *all)
        if (!o.is_there()) complain(o, "is not what it was");
    for (Opened const& o : files_) {
      struct stat what{};
      if (fstat(o.number, &what) == 0 && what.st_size != 0) complain(o, "was written to");
    }
    for (Opened const& o : sockets_) {
      char byte;
      auto const size = recv(o.number, &byte, 1, MSG_DONTWAIT);
      if (size > 0) complain(o, "was sent something");
      if (size == 0) complain(o, "was shut down");
    }
    return good;
  }

 private:
  static void add(std::vector<Opened>& to, int number) {
    if (number < 0) std::abort();
    to.push_back(Opened::at(number));
  }
  std::vector<Opened> files_, sockets_, others_;
};

// The numbers that it has put something of ours at.
std::vector<int> close_all(std::string const& how) {
  std::vector<int> over;
  if (how == "each" || how == "daemon") close_one_by_one();
  if (how == "range") close_range(first, UINT_MAX, 0);
  if (how == "from") closefrom(first);
  if (how == "bare") syscall(SYS_close_range, first, UINT_MAX, 0);
  if (how == "dup2" || how == "dup3") {
    int const null = open("/dev/null", O_WRONLY);
    for (int n = first; n < end; ++n) {
      if (n == null) continue;
      if ((how == "dup2" ? dup2(null, n) : dup3(null, n, O_CLOEXEC)) == n) over.push_back(n);
    }
    for (int i = 0; i < 100 && !over.empty(); ++i) {  // room for others
      close(over[over.size() / 2]);
      over.erase(over.begin() + static_cast<long>(over.size() / 2));
    }
  }
  return over;
}

}  // namespace

int main(int count, char** words) {
  std::string const how = count > 1 ? words[1] : "each";
  bool const fills = count > 2 && std::string(words[2]) == "fill";
  int const times = count > 2 && !fills ? std::atoi(words[2]) : 100;
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = std::min<rlim_t>(limit.rlim_max, end);
  setrlimit(RLIMIT_NOFILE, &limit);
  if (how != "daemon") {
    regions(20);
  } else if (pid_t const child = fork(); child != 0) {
    int status = 1;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
  } else {
    setsid();
    regions(20);
  }
  auto const over = close_all(how);
  Own own(fills);
  own.add_others(over);
  regions(times);
  bool const good = own.is_untouched();
  std::puts(good ? "untouched" : "touched");
  std::fflush(stdout);
  return good ? 0 : 1;
}
