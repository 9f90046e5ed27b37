// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <new>
#include <string_view>

#include "base/utf8.hpp"
#include "openmp/code_place.hpp"
#include "openmp/printable_name.hpp"
#include "openmp/tasks/team.hpp"
#include "openmp/tasks/trace.hpp"
#include "platform/size_signal.hpp"
#include "platform/thread.hpp"

namespace nigh::openmp::tasks {
namespace {

constexpr std::size_t most_codes = 1024, most_codes_written = 64;

// Of a code, all threads together.
struct CodeSum {
  void const* code;
  std::uint64_t times, ns;
  std::size_t number;  // among those that are written
};

// JSON on its way into a file.
class Writer {
 public:
  explicit Writer(int file) noexcept : file_(file) {}

  [[gnu::format(printf, 2, 3)]] void add(char const* format, ...) noexcept {
    std::array<char, 512> line;
    va_list values;
    va_start(values, format);
    auto const n = vsnprintf(line.data(), line.size(), format, values);
    va_end(values);
    put({line.data(),
         std::min<std::size_t>(static_cast<std::size_t>(std::max(n, 0)), line.size() - 1)});
  }
  // A string, with its quotes.
  void add_text(std::string_view text) noexcept {
    put("\"");
    while (!text.empty()) {
      auto const n = base::utf8_character(text);
      if (auto const c = static_cast<unsigned char>(text.front()); n == 0)
        put("\\ufffd");
      else if (c == '"' || c == '\\' || c < 0x20)
        add("\\u%04x", static_cast<unsigned>(c));
      else
        put(text.substr(0, n));
      text.remove_prefix(std::max<std::size_t>(n, 1));
    }
    put("\"");
  }
  void put(std::string_view text) noexcept {
    while (!text.empty()) {
      auto const n = std::min(text.size(), buffer_.size() - used_);
      memcpy(buffer_.data() + used_, text.data(), n);
      used_ += n;
      text.remove_prefix(n);
      if (used_ == buffer_.size()) flush();
    }
  }
  bool finish() noexcept {
    flush();
    return error_ == 0;
  }
  int error() const noexcept { return error_; }

 private:
  void flush() noexcept {
    platform::NoSizeSignal const here;
    for (std::size_t at = 0; at < used_ && error_ == 0;) {
      auto const n = write(file_, buffer_.data() + at, used_ - at);
      if (n > 0) at += static_cast<std::size_t>(n);
      if (n < 0 && errno != EINTR) error_ = errno;
    }
    used_ = 0;
  }

  int file_;
  int error_ = 0;
  std::size_t used_ = 0;
  std::array<char, 16384> buffer_;
};

class Codes {
 public:
  void take(Track const& track, std::int64_t until) noexcept {
    for (Activity a = other_tasks; a < Track::activities; ++a) {
      auto const& sum = track.sum(a);
      auto const times = sum.times.load(sync::relaxed);
      if (times == 0) continue;
      auto* const mine = find_or_add(sum.code.load(sync::relaxed));
      if (mine == nullptr) continue;
      mine->times += times;
      mine->ns += track.ns(a, until);
    }
  }
  // Most time first, which is how they are numbered.
  void sort() noexcept {
    std::sort(all_.begin(), all_.begin() + count_,
              [](CodeSum const& a, CodeSum const& b) { return a.ns > b.ns; });
    for (std::size_t i = 0; i < count_; ++i) all_[i].number = i;
  }
  std::size_t written() const noexcept { return std::min(count_, most_codes_written); }
  CodeSum const& operator[](std::size_t n) const noexcept { return all_[n]; }
  CodeSum const* find(void const* code) const noexcept {
    for (std::size_t i = 0; i < count_; ++i)
      if (all_[i].code == code) return &all_[i];
    return nullptr;
  }

 private:
  CodeSum* find_or_add(void const* code) noexcept {
    if (auto const* const known = find(code); known != nullptr) return const_cast<CodeSum*>(known);
    if (count_ == all_.size()) return nullptr;
    all_[count_] = {code, 0, 0, 0};
    return &all_[count_++];
  }

  std::array<CodeSum, most_codes> all_{};
  std::size_t count_ = 0;
};

char const* own_file() noexcept {
  static std::array<char, PATH_MAX> path;
  auto const n = readlink("/proc/self/exe", path.data(), path.size() - 1);
  path[static_cast<std::size_t>(std::max<ssize_t>(n, 0))] = '\0';
  return path.data();
}

// Where a code lies, as `nigh status` numbers regions.
void write_code(Writer& out, CodeSum const& sum) noexcept {
  auto const [id, library] = place_of_code(sum.code);
  out.add("{\"code\":%llu,\"library\":", static_cast<unsigned long long>(id));
  out.add_text(library != nullptr ? library : "");
  out.add(",\"tasks\":%llu,\"ns\":%llu}", static_cast<unsigned long long>(sum.times),
          static_cast<unsigned long long>(sum.ns));
}

// The time line of one thread.
class TrackWriter {
 public:
  TrackWriter(Writer& out, Codes const& codes, Track const& track, unsigned number,
              std::int64_t until) noexcept
      : out_(out), codes_(codes), track_(track), number_(number), until_(until) {}

  void write() noexcept {
    std::array<char, 64> name;
    snprintf(name.data(), name.size(), track_.is_nested() ? "thread %u, nested" : "thread %u",
             number_);
    head("M", "thread_name");
    out_.add(",\"args\":{\"name\":\"%s\"}},\n", name.data());
    head("M", "thread_sort_index");
    out_.add(",\"args\":{\"sort_index\":%u}}", number_);
    auto const all = track_.events();
    std::int64_t time = traced.zero_ns;
    for (auto n = all > Track::capacity ? all - Track::capacity : 0; n < all; ++n) {
      auto const event = track_.event(n, time);
      see(event, time);
    }
    while (depth_ > 0) close(std::max(time, until_));  // the thread is in it
  }

 private:
  struct Open {
    Traced event;
    std::int64_t since;
  };

  void see(Traced const& e, std::int64_t time) noexcept {
    switch (e.kind) {
      case TraceEvent::none:
        break;
      case TraceEvent::region:
      case TraceEvent::task:
      case TraceEvent::search:
      case TraceEvent::sleep:
        if (depth_ < open_.size()) open_[depth_] = {e, time};
        ++depth_;
        break;
      case TraceEvent::end:
        if (depth_ > 0) close(time);
        break;
      case TraceEvent::steal:
        out_.put(",\n");
        head("i", "steal");
        at(time);
        out_.add(",\"s\":\"t\",\"args\":{\"victim\":%u,\"level\":\"%s\",\"tasks\":%u}}",
                 unsigned{e.victim}, e.from < level_names.size() ? level_names[e.from] : "host",
                 e.what);
        break;
    }
  }
  void close(std::int64_t time) noexcept {
    --depth_;
    if (depth_ >= open_.size()) return;
    auto const& [event, since] = open_[depth_];
    out_.put(",\n");
    std::array<char, 32> name;
    if (event.kind == TraceEvent::task) {
      auto const* const code = codes_.find(track_.sum(event.what).code.load(sync::relaxed));
      auto const is_numbered = code != nullptr && code->number < codes_.written();
      snprintf(name.data(), name.size(), is_numbered ? "task@%zu" : "task",
               is_numbered ? code->number : 0);
    }
    head("X", event.kind == TraceEvent::region   ? "region"
              : event.kind == TraceEvent::task   ? name.data()
              : event.kind == TraceEvent::search ? "searching"
                                                 : "parked");
    at(since);
    auto const ns = static_cast<long long>(std::max<std::int64_t>(time - since, 0));
    out_.add(",\"dur\":%lld.%03lld,\"args\":{}}", ns / 1000, ns % 1000);
  }
  void head(char const* kind, char const* name) noexcept {
    out_.add("{\"ph\":\"%s\",\"name\":\"%s\",\"pid\":1,\"tid\":%u", kind, name, 100'000 + number_);
  }
  void at(std::int64_t time) noexcept {
    auto const ns = static_cast<long long>(std::max<std::int64_t>(time - traced.zero_ns, 0));
    out_.add(",\"ts\":%lld.%03lld", ns / 1000, ns % 1000);
  }

  Writer& out_;
  Codes const& codes_;
  Track const& track_;
  unsigned number_;
  std::int64_t until_;
  std::array<Open, 64> open_{};
  std::size_t depth_ = 0;
};

struct AllTracks {
  Writer* out;
  Codes* codes;
  std::int64_t until;
  unsigned count = 0;
  std::uint64_t workers = 0, busy_ns = 0, failed = 0, lost = 0;
  std::array<std::uint64_t, Counts::levels> visits{};

  void sum(Track const& track) noexcept {
    if (track.events() == 0) return;  // of a thread that a child of fork() does not have
    codes->take(track, until);
    ++count;
    if (!track.is_nested()) ++workers;
    for (Activity a = own_part; a < Track::activities; ++a)
      if (a != searching && a != asleep) busy_ns += track.ns(a, until);
    failed += track.failed_rounds();
    if (track.events() > Track::capacity) lost += track.events() - Track::capacity;
    for (std::size_t l = 0; l < visits.size(); ++l) visits[l] += track.visits(l);
  }
};

// The times of threads of outermost regions, with their numbers on the time line.
void write_threads(Writer& out, unsigned count, std::int64_t until) noexcept {
  struct Each {
    Writer& out;
    unsigned number;
    std::int64_t until;
    bool is_first = true;
  } each{out, count, until};
  out.put(",\"threads\":[");
  for_each_track(
      [](Track& track, void* with) {
        auto& to = *static_cast<Each*>(with);
        constexpr unsigned most_threads = 256;
        if (track.events() == 0 || --to.number >= most_threads || track.is_nested()) return;
        auto const ns = [&](Activity a) {
          return static_cast<unsigned long long>(track.ns(a, to.until));
        };
        unsigned long long in_tasks = 0;
        for (Activity a = other_tasks; a < Track::activities; ++a) in_tasks += ns(a);
        to.out.add("%s{\"thread\":%u,\"tasks_ns\":%llu,\"own_ns\":%llu", to.is_first ? "" : ",",
                   to.number, in_tasks, ns(own_part));
        to.out.add(",\"searching_ns\":%llu,\"asleep_ns\":%llu}", ns(searching), ns(asleep));
        to.is_first = false;
      },
      &each);
  out.put("]");
}

void write_all(Writer& out) noexcept {
  using Number = unsigned long long;
  static constinit Codes codes;
  auto const now = base::now_ns();
  AllTracks all{&out, &codes, now};
  for_each_track([](Track& t, void* with) { static_cast<AllTracks*>(with)->sum(t); }, &all);
  codes.sort();

  out.put("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n");
  out.put("{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"tid\":100000,\"args\":{\"name\":");
  std::array<char, 320> name;
  snprintf(name.data(), name.size(), "%s, OpenMP tasks of process %d", printable_name().text(),
           static_cast<int>(getpid()));
  out.add_text(name.data());
  out.put("}}");
  unsigned number = all.count;
  struct Each {
    Writer& out;
    unsigned& number;
    std::int64_t until;
  } each{out, number, now};
  for_each_track(
      [](Track& t, void* with) {
        auto& [to, n, until] = *static_cast<Each*>(with);
        if (t.events() == 0) return;
        to.put(",\n");
        TrackWriter(to, codes, t, --n, until).write();
      },
      &each);

  Counts const c = counted();
  Number stolen = 0;
  for (auto const at_level : c.stolen) stolen += at_level;
  out.put("\n],\"otherData\":{\"format\":2,\"program\":");
  out.add_text(printable_name().text());
  out.add(",\"process\":%d,\"zero_ns\":%lld,\"runtimes\":1,\"workers\":%llu",
          static_cast<int>(getpid()), static_cast<long long>(traced.zero_ns), Number{all.workers});
  out.add(",\"created\":%llu,\"serialized\":%llu,\"steals\":{", Number{c.made}, Number{c.at_once});
  char const* between = "";
  for (std::size_t l = 0; l < all.visits.size(); ++l) {
    if (all.visits[l] == 0) continue;
    out.add("%s\"%s\":%llu", between, level_names[l], Number{all.visits[l]});
    between = ",";
  }
  out.add("},\"stolen\":%llu,\"failed\":%llu,\"parks\":%llu,\"busy_ns\":%llu", stolen,
          Number{all.failed}, Number{c.slept}, Number{all.busy_ns});
  out.add(",\"elapsed_ns\":%llu,\"events_lost\":%llu,\"file\":",
          static_cast<Number>(now - traced.zero_ns), Number{all.lost});
  out.add_text(own_file());
  write_threads(out, all.count, now);
  out.put(",\"codes\":[");
  for (std::size_t i = 0; i < codes.written(); ++i) {
    if (i > 0) out.put(",");
    write_code(out, codes[i]);
  }
  out.put("]}}\n");
}

// The file's name, for this process: in its own name, not its folder's, %p is its number, %r its
// rank.
bool expand(std::array<char, PATH_MAX>& name) noexcept {
  std::size_t used = 0;
  auto const put = [&](std::string_view text) {
    if (used + text.size() >= name.size()) return false;
    memcpy(name.data() + used, text.data(), text.size());
    used += text.size();
    return true;
  };
  std::array<char, 16> process;
  snprintf(process.data(), process.size(), "%d", static_cast<int>(getpid()));
  bool fits = true;
  char const* const slash = strrchr(traced.file, '/');
  char const* const own_name = slash == nullptr ? traced.file : slash + 1;
  for (std::string_view rest = traced.file; !rest.empty() && fits;) {
    if (rest.data() >= own_name && (rest.starts_with("%p") || rest.starts_with("%r"))) {
      fits = put(rest[1] == 'p' ? process.data() : "0");
      rest.remove_prefix(2);
    } else {
      fits = put(rest.substr(0, 1));
      rest.remove_prefix(1);
    }
  }
  if (fits && getpid() != traced.first_process && strstr(own_name, "%p") == nullptr)
    fits = put(".") && put(process.data());
  name[used] = '\0';
  return fits;
}

void say(char const* name, char const* why) noexcept {
  fprintf(stderr, "nigh: cannot write the trace %s: %s\n", name, why);
}
void say(char const* name, int why) noexcept { say(name, strerror(why)); }

// A file that is there under the name of the trace.
struct Found {
  bool is_other = false;  // no regular file: a device or a pipe
  bool is_new = false;    // written since the process began: by a runtime of nigh's own in it
};

Found find(char const* name) noexcept {
  struct statx found;  // stat() came later than the oldest C library that is served
  timespec now;
  if (statx(AT_FDCWD, name, 0, STATX_TYPE | STATX_MTIME, &found) != 0) return {};
  if (!S_ISREG(found.stx_mode)) return {true, false};
  clock_gettime(CLOCK_REALTIME, &now);
  auto const age_ns =
      (now.tv_sec - found.stx_mtime.tv_sec) * 1'000'000'000 + now.tv_nsec - found.stx_mtime.tv_nsec;
  return {false, age_ns < base::now_ns() - traced.zero_ns};
}

// Held while the file is written, by the thread that ends the program or by the one that a signal
// woke.
constinit pthread_mutex_t writing = PTHREAD_MUTEX_INITIALIZER;
constinit bool is_written = false;

void write_file() noexcept {
  bool is_any = false;
  for_each_track([](Track& t, void* any) { *static_cast<bool*>(any) |= t.events() > 0; }, &is_any);
  if (!is_any) return;
  std::array<char, PATH_MAX> name, part;
  if (!expand(name)) return say(traced.file, ENAMETOOLONG);
  auto const found = find(name.data());
  if (found.is_other) return say(name.data(), "it is no regular file");
  if (found.is_new) strncat(name.data(), ".openmp", name.size() - strlen(name.data()) - 1);
  auto const n =
      snprintf(part.data(), part.size(), "%s.%d.part", name.data(), static_cast<int>(getpid()));
  if (n < 0 || static_cast<std::size_t>(n) >= part.size()) return say(name.data(), ENAMETOOLONG);
  int const file = open(part.data(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0666);
  if (file < 0) return say(name.data(), errno);
  Writer out(file);
  write_all(out);
  int why = out.finish() ? 0 : out.error();
  if (close(file) != 0 && why == 0) why = errno;
  if (why == 0 && rename(part.data(), name.data()) != 0) why = errno;
  if (why == 0) return;
  unlink(part.data());
  say(name.data(), why);
}

}  // namespace

void forget_writing() noexcept {
  writing = PTHREAD_MUTEX_INITIALIZER;
  is_written = false;
}

void write_trace() noexcept {
  if (traced.file == nullptr) return;
  pthread_mutex_lock(&writing);
  if (!is_written) write_file();
  is_written = true;
  pthread_mutex_unlock(&writing);
}

}  // namespace nigh::openmp::tasks
