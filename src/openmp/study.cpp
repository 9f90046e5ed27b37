// SPDX-License-Identifier: Apache-2.0
#include "openmp/study.hpp"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>

#include "base/atomic.hpp"
#include "platform/size_signal.hpp"

namespace nigh::openmp {
namespace {

// (study.A) `threads` is stored last, once, under the lock: a thread that sees it sees whose entry
//     this is.
struct Timed {
  sync::atomic<std::uint32_t> threads;  // 0: free
  std::uint32_t file;                   // in `files`
  coordinator::RegionId region;
  sync::atomic<std::uint64_t> runs, total_ns;
  std::array<sync::atomic<std::uint32_t>, duration_bins> bins;
};

struct FileName {
  std::uint32_t library;  // its number; 0: the program
  char path[PATH_MAX];
};

constexpr std::size_t most_entries = 1024, most_files = 64, longest_probe = 64;

// Untouched pages take no memory, and all are zero at first.
struct Table {
  std::array<Timed, most_entries> entries;
  std::array<FileName, most_files> files;
  std::size_t file_count;
  sync::atomic<std::uint64_t> lost;
};

constinit Table* table = nullptr;
constinit pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

std::size_t slot(coordinator::RegionId region, std::uint32_t threads, std::size_t probe) {
  auto const hash = (region ^ std::uint64_t{threads} << 32U) * 0x9e3779b97f4a7c15U;
  return (static_cast<std::size_t>(hash >> 40U) + probe) % most_entries;
}

// A name ends with its line.
void copy_name(char const* name, char* into) {
  std::size_t i = 0;
  for (; name[i] != '\0' && i + 1 < PATH_MAX; ++i) into[i] = name[i] == '\n' ? '?' : name[i];
  into[i] = '\0';
}

void name_program(char* into) {
  char path[PATH_MAX];
  auto const length = readlink("/proc/self/exe", path, sizeof path - 1);
  path[length < 0 ? 0 : length] = '\0';
  copy_name(path, into);
}

// Call it with the lock held. The last entry stands for all that have no room.
std::uint32_t file_of(coordinator::RegionId region, void const* code) {
  Table& t = *table;
  auto const library = coordinator::library_of(region);
  for (std::size_t i = 0; i < t.file_count; ++i)
    if (t.files[i].library == library) return static_cast<std::uint32_t>(i);
  if (t.file_count + 1 < most_files) ++t.file_count;
  auto const added = t.file_count - 1;
  FileName& f = t.files[added];
  f.library = library;
  f.path[0] = '\0';
  Dl_info in;
  if (library == 0)
    name_program(f.path);
  else if ((region & coordinator::in_no_file) == 0 && dladdr(code, &in) != 0 &&
           in.dli_fname != nullptr)
    copy_name(in.dli_fname, f.path);
  return static_cast<std::uint32_t>(added);
}

Timed* find(coordinator::RegionId region, std::uint32_t threads) {
  for (std::size_t probe = 0; probe < longest_probe; ++probe) {
    Timed& e = table->entries[slot(region, threads, probe)];
    auto const there = e.threads.load(sync::acquire);  // (study.A)
    if (there == 0) return nullptr;
    if (there == threads && e.region == region) return &e;
  }
  return nullptr;
}

Timed* find_or_add(coordinator::RegionId region, void const* code, std::uint32_t threads) {
  if (Timed* const found = find(region, threads)) return found;
  pthread_mutex_lock(&lock);
  Timed* result = find(region, threads);
  for (std::size_t probe = 0; result == nullptr && probe < longest_probe; ++probe) {
    Timed& e = table->entries[slot(region, threads, probe)];
    if (e.threads.load(sync::relaxed) != 0) continue;
    e.region = region;
    e.file = file_of(region, code);
    e.threads.store(threads, sync::release);  // (study.A)
    result = &e;
  }
  pthread_mutex_unlock(&lock);
  return result;
}

void write_entry(FILE* out, Timed const& e) {
  auto const runs = e.runs.load(sync::relaxed);
  std::array<std::uint32_t, duration_bins> counts;
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = e.bins[i].load(sync::relaxed);
  auto const quantile = [&](unsigned thousandths) {
    return static_cast<unsigned long long>(quantile_of(counts, runs, thousandths));
  };
  auto const threads = e.threads.load(sync::relaxed);
  fprintf(out, "%#llx %u %llu %llu %llu %llu %llu %s\n", static_cast<unsigned long long>(e.region),
          threads == asked_for_one ? 0 : threads, static_cast<unsigned long long>(runs),
          static_cast<unsigned long long>(e.total_ns.load(sync::relaxed)), quantile(100),
          quantile(500), quantile(900), table->files[e.file].path);
}

}  // namespace

bool begin_region_times() noexcept {
  void* const room = mmap(nullptr, sizeof(Table), PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room != MAP_FAILED) table = static_cast<Table*>(room);
  return table != nullptr;
}

void add_region_time(coordinator::RegionId region, void const* code, std::uint32_t threads,
                     std::uint64_t duration_ns) noexcept {
  if (table == nullptr) return;
  Timed* const e = find_or_add(region, code, threads);
  if (e == nullptr) {
    table->lost.fetch_add(1, sync::relaxed);
    return;
  }
  e->runs.fetch_add(1, sync::relaxed);
  e->total_ns.fetch_add(duration_ns, sync::relaxed);
  e->bins[bin_of(duration_ns)].fetch_add(1, sync::relaxed);
}

void write_region_times(char const* file, std::uint32_t team) noexcept {
  if (table == nullptr) return;
  pthread_mutex_lock(&lock);
  bool const is_empty = table->file_count == 0;
  pthread_mutex_unlock(&lock);
  if (is_empty) return;
  platform::NoSizeSignal const here;
  FILE* const out = fopen(file, "wxe");
  if (out == nullptr) return;
  char program[PATH_MAX];
  name_program(program);
  fprintf(out, "nigh-openmp-times 1 %u %llu %s\n", team,
          static_cast<unsigned long long>(table->lost.load(sync::relaxed)), program);
  for (Timed const& e : table->entries)
    if (e.threads.load(sync::acquire) != 0)  // (study.A)
      write_entry(out, e);
  fclose(out);
}

namespace {

using coordinator::max_cpus;

constinit std::uint16_t cpus[max_cpus]{};
constinit char const* times = nullptr;

// The number at `text`, which is moved past it; -1: there is none.
long take_number(char const*& text) {
  if (*text < '0' || *text > '9') return -1;
  char* end = nullptr;
  long const number = strtol(text, &end, 10);
  text = end;
  return number;
}

// The first `count` of the list that are allowed: a launcher may have given this process a part of
// the host.
bool read_cpus(char const* list, coordinator::CpuSet const& allowed, std::uint32_t count) {
  coordinator::CpuSet seen;
  for (std::uint32_t found = 0; found < count;) {
    long const cpu = take_number(list);
    if (cpu < 0) return false;
    int const number = cpu < max_cpus ? static_cast<int>(cpu) : -1;
    if (allowed.has(number) && !seen.has(number)) {
      seen.add(number);
      cpus[found++] = static_cast<std::uint16_t>(number);
    }
    if (found < count && *list++ != ',') return false;
  }
  return true;
}

void first_cpus(coordinator::CpuSet const& allowed, std::uint32_t count) {
  std::uint32_t i = 0;
  for (int cpu = 0; i < count; ++cpu)
    if (allowed.has(cpu)) cpus[i++] = static_cast<std::uint16_t>(cpu);
}

}  // namespace

constinit GrantedTeam studied_team{};

char const* begin_study(coordinator::CpuSet const& allowed, std::uint32_t allowed_cpus) noexcept {
  char const* size = getenv("NIGH_OPENMP_TEAM");
  if (size == nullptr || *size == '\0') return nullptr;
  long const count = take_number(size);
  if (*size != '\0' || count < 1 || count > static_cast<long>(allowed_cpus))
    return "NIGH_OPENMP_TEAM is no number of allowed cpus";
  auto const threads = static_cast<std::uint32_t>(count);
  char const* const list = getenv("NIGH_OPENMP_CPUS");
  if (list == nullptr || *list == '\0')
    first_cpus(allowed, threads);
  else if (!read_cpus(list, allowed, threads))
    return "NIGH_OPENMP_CPUS does not list enough allowed cpus";
  times = getenv("NIGH_OPENMP_TIMES");
  if (times != nullptr && *times != '\0' && !begin_region_times()) return "no memory for times";
  studied_team = {cpus, threads, 0};
  return nullptr;
}

void end_study() noexcept {
  if (studied_team.size == 0 || times == nullptr) return;
  char file[PATH_MAX];
  int const length = snprintf(file, sizeof file, "%s.%d", times, static_cast<int>(getpid()));
  if (length > 0 && length < static_cast<int>(sizeof file))
    write_region_times(file, studied_team.size);
}

}  // namespace nigh::openmp
