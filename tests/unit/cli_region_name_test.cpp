// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <exception>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <iterator>
#include <string>
#include <utility>

#include "base/printable.hpp"
#include "cli/region_finder.hpp"
#include "cli/region_name.hpp"
#include "platform/process_usage.hpp"

// This file is compiled with debug information.
constexpr int marked_line = __LINE__ + 1;
extern "C" __attribute__((noinline)) int nigh_test_marked(int n) { return n + 1; }
extern "C" int nigh_test_hostile(int n);  // of hostile_line.cpp

namespace nigh::cli {
namespace {

namespace fs = std::filesystem;
using coordinator::library_number;
using coordinator::region_in;
using testing::EndsWith;
using testing::StartsWith;

std::uint64_t address_in_file(void const* code) {
  Dl_info in;
  if (dladdr(code, &in) == 0) return 0;
  return reinterpret_cast<std::uintptr_t>(code) - reinterpret_cast<std::uintptr_t>(in.dli_fbase);
}
std::uint64_t marked() { return address_in_file(reinterpret_cast<void const*>(&nigh_test_marked)); }
fs::path this_program() { return fs::read_symlink("/proc/self/exe"); }

// As nighd describes a program of the process.
ProgramProcess process_of(int pid, unsigned user = ::geteuid()) {
  return {{pid, platform::start_of(pid)}, user};
}

std::string text_of(fs::path const& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(RegionName, IsFileAndLine) {
  ASSERT_EQ(nigh_test_marked(1), 2);
  auto names = RegionNames::of_program(this_program());
  auto const& found = names.find(marked());
  EXPECT_EQ(found.at.function, "nigh_test_marked");
  EXPECT_EQ(found.at.offset, 0U);
  EXPECT_THAT(found.at.source, EndsWith("cli_region_name_test.cpp"));
  EXPECT_EQ(found.at.line, marked_line);
  EXPECT_EQ(found.file, this_program());
  EXPECT_EQ(names.name(marked()), "cli_region_name_test.cpp:" + std::to_string(marked_line));
}

TEST(RegionName, OfARunningProgram) {
  auto names = RegionNames::of_process(process_of(::getpid()));
  EXPECT_EQ(names.name(marked()), "cli_region_name_test.cpp:" + std::to_string(marked_line));
}

TEST(RegionName, OfAnEndedProgramIsNotLookedForInTheNextOneWithItsNumber) {
  auto const address = fmt::format("{:#x}", marked());
  auto earlier = process_of(::getpid());
  --earlier.identity.started;
  EXPECT_EQ(RegionNames::of_process(earlier).name(marked()), address);
  EXPECT_EQ(RegionNames::of_process(process_of(::getpid(), ::geteuid() + 1)).name(marked()),
            address);
}

TEST(RegionName, InALibraryThatARunningProgramHasLoaded) {
  void (*const terminate)() = &std::terminate;
  auto const address = address_in_file(reinterpret_cast<void const*>(terminate));
  auto names = RegionNames::of_process(process_of(::getpid()));
  auto const& found = names.find(region_in(library_number("libstdc++.so.6"), address));
  EXPECT_TRUE(found.is_in_library);
  EXPECT_THAT(found.file.filename().string(), StartsWith("libstdc++.so.6"));
  EXPECT_EQ(function_of(found), "std::terminate");
}

TEST(RegionName, IsTheAddressWhereNothingIsKnown) {
  constexpr std::uint64_t address = 0x11d0;
  EXPECT_EQ(RegionNames::of_program("/nonexistent/program").name(address), "0x11d0");
  EXPECT_EQ(RegionNames::of_program("/etc/passwd").name(address), "0x11d0");
  EXPECT_EQ(RegionNames::of_program("/").name(address), "0x11d0");
  EXPECT_EQ(RegionNames::of_process({}).name(address), "0x11d0");
  auto here = RegionNames::of_program(this_program());
  EXPECT_EQ(here.name(coordinator::in_no_file | address), "0x11d0");
  EXPECT_EQ(here.name(region_in(library_number("libnobody.so"), address)), "0x11d0");
}

TEST(RegionName, OfAHostileFileCommandsNoTerminal) {
  ASSERT_EQ(nigh_test_hostile(1), 3);
  auto const hostile = address_in_file(reinterpret_cast<void const*>(&nigh_test_hostile));
  auto names = RegionNames::of_program(this_program());
  EXPECT_EQ(names.name(hostile), "evil\\x1b[31m\\n99 root \\u009b.cpp:7");
  auto const& found = names.find(hostile);
  EXPECT_EQ(base::printable(found.at.source), found.at.source);
  EXPECT_EQ(base::printable(short_name({"/tmp/\033[2J.so", true, 1, {}})),
            short_name({"/tmp/\033[2J.so", true, 1, {}}));
}

// The owner of its folder in /proc is root: that does not make it root's.
TEST(RegionName, OfAnotherUsersProcessThatHidesTakesNoRightsOfRoot) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root may look into other users' processes";
  constexpr unsigned nobody = 65534;
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  int const child = ::fork();
  if (child == 0) {
    ::close(ends[1]);
    if (::setresgid(nobody, nobody, nobody) != 0 || ::setresuid(nobody, nobody, nobody) != 0)
      ::_exit(1);
    ::prctl(PR_SET_DUMPABLE, 0);
    ::prctl(PR_SET_NAME, "hidden");
    char end = 0;
    ::_exit(static_cast<int>(::read(ends[0], &end, 1)));
  }
  ::close(ends[0]);
  for (std::string name; name != "hidden\n" && ::kill(child, 0) == 0; ::usleep(1000))
    name = text_of(fmt::format("/proc/{}/comm", child));
  EXPECT_FALSE(platform::is_own_process(child));
  EXPECT_EQ(RegionNames::of_process(process_of(child, nobody)).name(marked()),
            fmt::format("{:#x}", marked()));
  ::close(ends[1]);
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

// Cut anywhere, a file may tell less, and does no harm.
TEST(RegionName, SurvivesHalfFiles) {
  auto const whole = text_of(this_program());
  auto const part = fs::temp_directory_path() / ("nigh-half." + std::to_string(::getpid()));
  for (std::size_t const size : {std::size_t{0}, std::size_t{3}, std::size_t{64}, std::size_t{4096},
                                 whole.size() / 2, whole.size() - 100}) {
    std::ofstream(part, std::ios::binary) << whole.substr(0, size);
    EXPECT_FALSE(RegionNames::of_program(part).name(marked()).empty()) << size;
  }
  fs::remove(part);
}

// A file of a few kilobytes may say that it has two terabytes.
TEST(RegionName, TakesMemoryByTheRoomOfTheFileOnTheDisk) {
  constexpr std::uint64_t mb = 1 << 20;
  auto const file = fs::temp_directory_path() / ("nigh-sparse." + std::to_string(::getpid()));
  std::ofstream(file, std::ios::binary) << std::string(mb, 'x');
  EXPECT_EQ(bytes_to_read(file, 64 * mb), 8 * mb);
  EXPECT_EQ(bytes_to_read(file, 4 * mb), 4 * mb);
  fs::resize_file(file, std::uint64_t{1} << 36);
  EXPECT_LE(bytes_to_read(file, 64 * mb), 9 * mb);
  fs::remove(file);
  EXPECT_EQ(bytes_to_read(file, 64 * mb), 0U);
}

RegionCode in_function(std::string function, std::uint64_t offset = 0) {
  return {"/usr/bin/solver", false, 0x11d0, {std::move(function), offset, {}, 0}};
}

TEST(RegionName, WithoutLinesIsTheFunction) {
  EXPECT_EQ(short_name(in_function("main._omp_fn.0")), "main._omp_fn.0");
  EXPECT_EQ(short_name(in_function("main.omp_outlined.3")), "main.omp_outlined.3");
  EXPECT_EQ(short_name(in_function("(anonymous namespace)::fib(int) [clone ._omp_fn.1]")),
            "fib._omp_fn.1");
  EXPECT_EQ(short_name(in_function(".omp_outlined.")), ".omp_outlined.");
  EXPECT_EQ(short_name(in_function("solve", 0x40)), "solve+0x40");
  EXPECT_EQ(short_name({"/usr/lib/libx.so.1", true, 0x11d0, {}}), "libx.so.1+0x11d0");
  EXPECT_EQ(short_name({"/usr/bin/solver", false, 0x11d0, {}}), "0x11d0");
}

TEST(RegionName, KnowsTheFunctionThatWasWritten) {
  for (auto const& [compiled, written] : std::initializer_list<std::pair<char const*, char const*>>{
           {"main._omp_fn.0", "main"},
           {"main.omp_outlined", "main"},
           {"cg::solve(int, void (*)(int)) [clone ._omp_fn.2]", "cg::solve"},
           {"cg::solve(std::vector<int>&) [clone .omp_outlined.3]", "cg::solve"},
           {"cg::Grid<double, (Kind)1>::size() const [clone ._omp_fn.0]", "cg::Grid::size"},
           {"double cg::sum<cg::solve(int)::{lambda(int)#2}>(int) [clone ._omp_fn.0]", "cg::sum"},
           {"f(int)::{lambda(int)#1}::operator()(int) const [clone ._omp_fn.0]",
            "f::{lambda#1}::operator()"},
           {"void Grid<int>::operator<< <int>(int)", "Grid::operator<< <int>"},
           {"Grid::operator->() const", "Grid::operator->"},
           {"(anonymous namespace)::fib(int)", "fib"},
           {".omp_outlined.", ".omp_outlined."},
           {"", ""}})
    EXPECT_EQ(function_of(in_function(compiled)), written) << compiled;
}

}  // namespace
}  // namespace nigh::cli
