// SPDX-License-Identifier: Apache-2.0
#include <elf.h>
#include <gtest/gtest.h>
#include <link.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "platform/elf.hpp"
#include "platform/elf_functions.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;

TEST(Elf, TellsOfThisProgram) {
  auto const facts = read_elf("/proc/self/exe");
  ASSERT_TRUE(facts);
  EXPECT_TRUE(facts->is_ours);
  EXPECT_TRUE(facts->is_dynamic);
  EXPECT_TRUE(fs::exists(facts->loader)) << facts->loader;
  auto const has = [](std::vector<std::string> const& all, std::string const& start) {
    return std::any_of(all.begin(), all.end(), [&](auto const& s) { return s.starts_with(start); });
  };
  EXPECT_TRUE(has(facts->needed, "libc.so.6"));
  EXPECT_TRUE(has(facts->imports, "getpid") || has(facts->imports, "wait4"));
}

void write_as_bytes(std::ostream& out, auto const& what) {
  out.write(reinterpret_cast<char const*>(&what), sizeof what);
}

// 5 MB with 65,535 symbol tables, all the same, of symbols that all have the same name of 4 KB; and
// as many libraries.
void write_bomb(fs::path const& path, std::uint32_t kind) {
  constexpr unsigned tables = 65'535, symbols = 43'690;
  std::ofstream out(path, std::ios::binary);
  ElfW(Ehdr) header{};
  std::ifstream("/proc/self/exe", std::ios::binary)
      .read(reinterpret_cast<char*>(&header), sizeof header);
  header.e_phnum = 0;
  header.e_shoff = sizeof header;
  header.e_shnum = tables;
  write_as_bytes(out, header);
  ElfW(Shdr) section{};
  section.sh_type = kind;
  section.sh_offset = sizeof header + std::uint64_t{tables} * sizeof section;
  section.sh_size = 1U << 30;
  section.sh_entsize = sizeof(ElfW(Sym));
  for (unsigned i = 0; i < tables; ++i) write_as_bytes(out, section);
  ElfW(Sym) symbol{};
  symbol.st_name = symbols * sizeof symbol;
  symbol.st_info = STT_FUNC | (STB_GLOBAL << 4);
  for (unsigned i = 0; i < symbols; ++i) write_as_bytes(out, symbol);
  out << std::string(5000, 'A');
}

// In a child: how many bytes more it had at its largest than before.
template <class F>
std::uint64_t bytes_taken(F const& by) {
  int const child = ::fork();
  if (child == 0) {
    rusage before{}, after{};
    ::getrusage(RUSAGE_SELF, &before);
    by();
    ::getrusage(RUSAGE_SELF, &after);
    ::_exit(static_cast<int>(std::min(255L, (after.ru_maxrss - before.ru_maxrss) / 1024)));
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status));
  return static_cast<std::uint64_t>(WEXITSTATUS(status)) << 20;
}

// The library's name and needs are in a segment, for a loader reads no section.
TEST(Elf, WithoutSectionsTellsWhatItNeeds) {
  auto const file = fs::temp_directory_path() / ("nigh-sections." + std::to_string(::getpid()));
  fs::copy_file("/proc/self/exe", file);
  {
    std::fstream out(file, std::ios::binary | std::ios::in | std::ios::out);
    ElfW(Ehdr) header{};
    out.read(reinterpret_cast<char*>(&header), sizeof header);
    header.e_shoff = 0;
    header.e_shnum = header.e_shstrndx = 0;
    out.seekp(0);
    write_as_bytes(out, header);
  }
  auto const whole = read_elf("/proc/self/exe"), cut = read_elf(file);
  ASSERT_TRUE(whole && cut);
  EXPECT_EQ(cut->needed, whole->needed);
  EXPECT_TRUE(cut->imports.empty());
  EXPECT_TRUE(cut->is_dynamic);
  EXPECT_EQ(cut->loader, whole->loader);
  fs::remove(file);
}

// A header that names no number leaves it to the first section: here there are 67 million of them, in
// a file of 4 GB that takes no room.
TEST(Elf, OfMillionsOfSectionsTakesLittleMemory) {
  auto const file = fs::temp_directory_path() / ("nigh-sections." + std::to_string(::getpid()));
  constexpr std::uint64_t sections = 1 << 26;
  {
    std::ofstream out(file, std::ios::binary);
    ElfW(Ehdr) header{};
    std::ifstream("/proc/self/exe", std::ios::binary)
        .read(reinterpret_cast<char*>(&header), sizeof header);
    header.e_shoff = sizeof header;
    header.e_shnum = 0;
    write_as_bytes(out, header);
    ElfW(Shdr) first{};
    first.sh_size = sections;
    write_as_bytes(out, first);
  }
  fs::resize_file(file, (sections + 1) * sizeof(ElfW(Shdr)));
  EXPECT_LT(bytes_taken([&] { static_cast<void>(read_elf(file)); }), std::uint64_t{64} << 20);
  fs::remove(file);
}

TEST(Elf, OfManyTablesTakesLittleMemory) {
  auto const bomb = fs::temp_directory_path() / ("nigh-bomb." + std::to_string(::getpid()));
  for (std::uint32_t const kind : {std::uint32_t{SHT_DYNSYM}, std::uint32_t{SHT_SYMTAB}}) {
    write_bomb(bomb, kind);
    auto const most = (std::uint64_t{64} << 20) + 10 * fs::file_size(bomb);
    EXPECT_LT(bytes_taken([&] { static_cast<void>(read_elf(bomb)); }), most);
    constexpr char const* nowhere = "nigh_test_nowhere";
    EXPECT_LT(bytes_taken([&] { static_cast<void>(defines_any(bomb.c_str(), {&nowhere, 1})); }),
              most);
  }
  fs::remove(bomb);
}

}  // namespace
}  // namespace nigh::platform
