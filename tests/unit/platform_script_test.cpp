// SPDX-License-Identifier: Apache-2.0
// Which script an interpreter's words name.
#include <gtest/gtest.h>

#include <fstream>

#include "platform/script.hpp"
#include "temporary_folder.hpp"

namespace nigh::platform {
namespace {

namespace fs = std::filesystem;
using Kind = ScriptWord::Kind;
using Words = std::vector<std::string>;

ScriptWord const none{};
ScriptWord file(std::string path) { return {Kind::file, std::move(path)}; }
ScriptWord module(std::string name) { return {Kind::module, std::move(name)}; }

TEST(Script, InterpretersAreKnownByName) {
  for (char const* name :
       {"python", "python3", "python3.11", "pypy3", "perl", "perl5.36.0", "ruby3.1", "R", "Rscript",
        "julia", "node", "octave-cli-7.3.0", "lua5.4", "luajit"})
    EXPECT_TRUE(is_interpreter(name)) << name;
  for (char const* name :
       {"", "solver", "python-solver", "perlbench", "Rosetta", "nodes", "sh", "bash"})
    EXPECT_FALSE(is_interpreter(name)) << name;
}

TEST(Script, OfPython) {
  auto const of = [](Words words) {
    words.insert(words.begin(), "python3");
    return script_in("python3.11", words);
  };
  EXPECT_EQ(of({"train.py", "-c", "x"}), file("train.py"));
  EXPECT_EQ(of({"-u", "-OO", "train.py"}), file("train.py"));
  EXPECT_EQ(of({"-W", "ignore", "-Xdev", "-X", "importtime", "/a/b.py"}), file("/a/b.py"));
  EXPECT_EQ(of({"--check-hash-based-pycs", "never", "b.py"}), file("b.py"));
  EXPECT_EQ(of({"--", "-odd.py"}), file("-odd.py"));
  EXPECT_EQ(of({"-m", "sklearn.bench", "x.py"}), module("sklearn.bench"));
  EXPECT_EQ(of({"-um", "pytest"}), module("pytest"));
  EXPECT_EQ(of({"-mpytest"}), module("pytest"));
  for (auto const& words : {Words{}, Words{"-"}, Words{"-c", "import a", "b.py"}, Words{"-uc", "1"},
                            Words{"-cpass"}, Words{"-m"}, Words{"-W"}, Words{"--"}, Words{""}})
    EXPECT_EQ(of(words), none);
}

TEST(Script, OfOthers) {
  EXPECT_EQ(script_in("perl", {"perl", "-w", "-I", "lib", "-Mstrict", "a.pl"}), file("a.pl"));
  EXPECT_EQ(script_in("perl", {"perl", "-ne", "print"}), none);
  EXPECT_EQ(script_in("R", {"R", "--no-echo", "--no-restore", "--file=a.R", "--args", "b.R"}),
            file("a.R"));
  EXPECT_EQ(script_in("R", {"R", "-f", "a.R"}), file("a.R"));
  EXPECT_EQ(script_in("R", {"R", "--no-echo", "-e", "1+1", "--file=x"}), none);
  EXPECT_EQ(script_in("R", {"R", "--no-save"}), none);
  EXPECT_EQ(script_in("julia", {"julia", "-t", "4", "--project=x", "a.jl"}), file("a.jl"));
  EXPECT_EQ(script_in("julia", {"julia", "--eval", "x", "a.jl"}), none);
  EXPECT_EQ(script_in("solver", {"solver", "input.dat"}), none);
}

TEST(Script, IsKnownByItsPathAndItsInterpreter) {
  test::TemporaryFolder const temporary;
  auto const& folder = temporary.path();
  for (char const* script : {"a.py", "b.py"}) std::ofstream(folder / script) << "pass";
  auto const a = script_of(file("a.py"), 1, folder);
  ASSERT_TRUE(a);
  EXPECT_EQ(a->name, "a.py");
  EXPECT_EQ(a->path, folder / "a.py");
  std::ofstream(folder / "a.py") << "changed";
  EXPECT_EQ(script_of(file("./a.py"), 1, folder)->identity, a->identity);
  EXPECT_EQ(script_of(file((folder / "a.py").string()), 1, "/")->identity, a->identity);
  EXPECT_NE(script_of(file("b.py"), 1, folder)->identity, a->identity);
  EXPECT_NE(script_of(file("a.py"), 2, folder)->identity, a->identity);
  EXPECT_FALSE(script_of(file("c.py"), 1, folder));
  EXPECT_FALSE(script_of(file("/dev/null"), 1, folder));
  EXPECT_FALSE(script_of(none, 1, folder));
  EXPECT_FALSE(script_of(file("a.py"), 0, folder)) << "the interpreter is not known";
  auto const m = script_of(module("a.py"), 1, folder);
  ASSERT_TRUE(m);
  EXPECT_TRUE(m->path.empty());
  EXPECT_NE(m->identity, a->identity);
}

// As the system tells of processes; what it does not tell is not guessed.
TEST(Script, OfAProcess) {
  test::TemporaryFolder const folder;
  auto const& proc = folder.path();
  fs::create_directories(proc / "12" / "work");
  fs::create_directory_symlink(proc / "12" / "work", proc / "12" / "cwd");
  std::ofstream(proc / "12" / "work" / "a.py") << "pass";
  using std::literals::operator""sv;
  std::ofstream(proc / "12" / "cmdline") << "python3\0-u\0a.py\0more\0"sv;
  auto const script = script_of_process(12, "python3", 1, proc);
  ASSERT_TRUE(script);
  EXPECT_EQ(script->path, proc / "12" / "work" / "a.py");
  // A process may make this as long as its memory.
  std::string words("python3\0", 8);
  for (int word = 0; word < 1'000; ++word) words += std::string("-u\0", 3);
  std::ofstream(proc / "12" / "cmdline") << words << "a.py\0"sv;
  EXPECT_FALSE(script_of_process(12, "python3", 1, proc));
  std::ofstream(proc / "12" / "cmdline") << "python3\0"sv << std::string(100'000, 'a');
  EXPECT_FALSE(script_of_process(12, "python3", 1, proc));
  std::ofstream(proc / "12" / "cmdline") << "python3\0a.py\0"sv << std::string(100'000, '\0');
  EXPECT_TRUE(script_of_process(12, "python3", 1, proc));
  fs::remove(proc / "12" / "cwd");
  EXPECT_FALSE(script_of_process(12, "python3", 1, proc));
  EXPECT_FALSE(script_of_process(13, "python3", 1, proc));
}

}  // namespace
}  // namespace nigh::platform
