// SPDX-License-Identifier: Apache-2.0
// nigh bench compile: how long a compiler takes for the smallest parallel programs of each library,
// and how large these become.

#include <fmt/format.h>
#include <stdlib.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nigh/topology.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "bench/benchmark.hpp"
#include "bench/options.hpp"
#include "bench/processes.hpp"
#include "bench/statistics.hpp"
#include "bench/table.hpp"

namespace bench {
namespace {

struct Program {
  char const* name;
  char const* answer;  // that it prints, with a newline
};
constexpr Program all_programs[] = {
    {"for", "499500\n"}, {"fib", "55\n"}, {"reduce", "249750\n"}, {"sort", "999\n"}};

struct Library {
  char const* name;
  char const* header;    // there is one where a program of it can be built; null: always
  char const* programs;  // those that it has
  std::vector<std::string> flags;
};

// nigh's flags are added when it is known where its headers are.
std::vector<Library> const all_libraries = {
    {"serial", nullptr, "for fib reduce sort", {}},
    {"threads", nullptr, "for fib reduce sort", {"-DUSE_THREADS", "-pthread"}},
    {"nigh", "nigh/version.hpp", "for fib reduce sort", {"-DUSE_NIGH"}},
    {"std/nigh",
     "nigh/pstl.hpp",
     "for reduce sort",
     {"-DUSE_STD_PAR", "-include", "nigh/pstl.hpp"}},
    {"openmp", "omp.h", "for fib reduce sort", {"-DUSE_OPENMP", "-fopenmp"}},
    {"fork_union", "fork_union.hpp", "for", {"-DUSE_FORK_UNION", "-pthread"}},
    {"tbb", "oneapi/tbb/version.h", "for fib reduce sort", {"-DUSE_TBB", "-ltbb"}},
    {"std/tbb", "oneapi/tbb/version.h", "for reduce sort", {"-DUSE_STD_PAR", "-ltbb"}},
    {"taskflow", "taskflow/taskflow.hpp", "for fib reduce sort", {"-DUSE_TASKFLOW", "-pthread"}},
};

struct CompileFlags : Flags {
  std::string programs = "for,fib,reduce,sort", libraries, compilers, optimise = "-O2";
  std::vector<std::string> include;
};

struct CompileOptions {
  explicit CompileOptions(nigh::topology here) : machine(std::move(here)) {}

  nigh::topology machine;
  std::vector<Program const*> programs;
  std::vector<Library> libraries;
  std::vector<std::string> compilers, flags;
  int repetitions = 0;
};

// Of the build tree in this folder, the source tree; empty: it is none.
std::filesystem::path source_of(std::filesystem::path const& build) {
  std::ifstream cache(build / "CMakeCache.txt");
  std::string const key = "CMAKE_HOME_DIRECTORY:INTERNAL=";
  for (std::string line; std::getline(cache, line);)
    if (line.starts_with(key)) return line.substr(key.size());
  return {};
}

// Where nigh's headers and library are: installed beside this driver, or in the trees of its build.
std::vector<std::string> nigh_flags() {
  namespace fs = std::filesystem;
  fs::path const prefix = fs::path(libexec_folder()).parent_path().parent_path();
  for (auto const& [headers, library] :
       {std::pair<fs::path, fs::path>{prefix / "include", prefix / NIGH_LIBRARY_FOLDER},
        std::pair<fs::path, fs::path>{source_of(prefix) / "include", prefix / "src"}})
    if (fs::exists(headers / "nigh/version.hpp") && fs::exists(library / "libnigh.so"))
      return {"-I" + headers.string(), "-L" + library.string(), "-Wl,-rpath," + library.string(),
              "-lnigh"};
  throw std::runtime_error("nigh's headers and libnigh.so are not below " + prefix.string() +
                           ": install nigh with its headers");
}

// A folder of its own, removed at the end.
class Workplace {
 public:
  Workplace() {
    std::string name =
        (std::filesystem::temp_directory_path() / "nigh-bench-compile-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr)
      throw std::runtime_error("cannot make a folder like " + name);
    folder_ = name;
  }
  ~Workplace() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  Workplace(Workplace&&) = delete;
  Workplace& operator=(Workplace&&) = delete;
  std::string file(std::string const& name) const { return (folder_ / name).string(); }

 private:
  std::filesystem::path folder_;
};

Ended run(std::vector<std::string> words) {
  return run_together({{.words = std::move(words), .environment = {}}}, 300).front();
}

std::string first_line(std::string const& text) { return text.substr(0, text.find('\n')); }

bool is_compiler(std::string const& name) {
  try {
    return run({name, "--version"}).status == 0;
  } catch (std::runtime_error const&) {  // it could not be started
    return false;
  }
}

std::string checked_compiler(std::string const& argument, std::string const& word) {
  if (!is_compiler(word)) refuse(argument, word, "is no compiler here");
  return word;
}

std::vector<std::string> compilers_here() {
  std::vector<std::string> here;
  for (std::vector<std::string> const& names :
       {std::vector<std::string>{"g++"}, {"clang++", "clang++-19", "clang++-16", "clang++-14"}}) {
    auto const found = std::find_if(names.begin(), names.end(), is_compiler);
    if (found != names.end()) here.push_back(*found);
  }
  if (here.empty())
    throw std::runtime_error("neither g++ nor clang++ is here: name one by --compilers");
  return here;
}

template <class Thing>
Thing const* find(Thing const* first, Thing const* last, std::string const& name) {
  auto const* const found =
      std::find_if(first, last, [&](Thing const& t) { return t.name == name; });
  return found == last ? nullptr : found;
}

CompileOptions check(CompileFlags const& f) {
  CompileOptions o(live_machine());
  o.repetitions =
      static_cast<int>(number_or("--repetitions", f.repetitions, f.quick ? 1 : 7, 1'000'000));
  o.programs = each<Program const*>(
      "--programs", f.programs, [](std::string const& a, std::string const& word) {
        auto const* const found = find(std::begin(all_programs), std::end(all_programs), word);
        if (found == nullptr) refuse(a, word, "is not there; --list names the programs");
        return found;
      });
  auto const* const first = all_libraries.data();
  if (f.libraries.empty())
    o.libraries = all_libraries;
  else
    for (Library const *l : each<Library const*>(
             "--libraries", f.libraries, [&](std::string const& a, std::string const& word) {
               auto const* const found = find(first, first + all_libraries.size(), word);
               if (found == nullptr) refuse(a, word, "is not there; --list names the libraries");
               return found;
             }))
      o.libraries.push_back(*l);
  o.compilers = f.compilers.empty()
                    ? compilers_here()
                    : each<std::string>("--compilers", f.compilers, checked_compiler);
  if (f.quick && f.compilers.empty()) o.compilers.resize(1);
  o.flags = {"-std=c++20", f.optimise};
  if (!f.optimise.starts_with("-O")) refuse("--optimise", f.optimise, "is no level such as -O2");
  for (std::string const& folder : f.include) {
    if (!std::filesystem::is_directory(folder)) refuse("--include", folder, "is no folder");
    o.flags.insert(o.flags.end(), {"-isystem", folder});
  }
  for (Library& l : o.libraries)
    if (std::string(l.name).find("nigh") != std::string::npos)
      for (std::string const& flag : nigh_flags()) l.flags.push_back(flag);
  return o;
}

// One program of one library by one compiler.
struct Cell {
  Library const* library;
  std::string absent;  // why it is not measured
  std::vector<double> samples = {};
  bool verified = true;
  long stripped_bytes = 0, bytes = 0, lines = 0;
};

class Measurement {
 public:
  Measurement(CompileOptions const& o, Program const& program, std::string compiler)
      : options_(o),
        program_(program),
        compiler_(std::move(compiler)),
        source_(libexec_folder() + "/compile/" + program.name + ".cpp") {
    if (!std::filesystem::exists(source_)) throw std::runtime_error(source_ + " is not there");
    for (Library const& l : o.libraries)
      if (words_of(l.programs).count(program.name) > 0) cells_.push_back({&l, why_absent(l)});
  }

  Findings measure() {
    for (Cell& c : cells_)
      if (c.absent.empty()) look_at(c);  // also warms the page cache
    take_turns(
        options_.repetitions, cells_,
        [&](Cell const& c) {
          return fmt::format("{} {}, {}", compiler_, program_.name, c.library->name);
        },
        [&](Cell& c) { c.samples.push_back(compile(c).cpu_seconds); });
    return {describe(), results()};
  }

 private:
  static std::map<std::string, int> words_of(std::string const& list) {
    std::map<std::string, int> words;
    for (std::size_t at = 0; at < list.size();) {
      auto const end = std::min(list.find(' ', at), list.size());
      words[list.substr(at, end - at)] = 1;
      at = end + 1;
    }
    return words;
  }

  std::vector<std::string> command(Library const& l, std::vector<std::string> const& more) const {
    std::vector<std::string> words{compiler_};
    words.insert(words.end(), options_.flags.begin(), options_.flags.end());
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), l.flags.begin(), l.flags.end());
    return words;
  }

  std::string why_absent(Library const& l) const {
    if (l.header == nullptr) return {};
    std::string const file = place_.file("probe.cpp");
    std::ofstream(file) << "#include <" << l.header << ">\n";
    return run(command(l, {"-fsyntax-only", "-w", file})).status == 0
               ? ""
               : fmt::format("{} does not compile <{}> here", compiler_, l.header);
  }

  Ended compile(Cell const& c) const {
    auto const ended = run(command(*c.library, {source_, "-o", place_.file("program")}));
    if (ended.status != 0)
      throw std::runtime_error(fmt::format("{} refuses {} for {}: {}", compiler_, source_,
                                           c.library->name, first_line(ended.errors)));
    return ended;
  }

  // Everything but the time.
  void look_at(Cell& c) const {
    compile(c);
    std::string const program = place_.file("program");
    auto const ran =
        run_together({{.words = {program}, .environment = {{"NIGH_COORDINATOR", "off"}}}}, 60)
            .front();
    c.verified = ran.status == 0 && ran.output == program_.answer;
    c.bytes = static_cast<long>(std::filesystem::file_size(program));
    if (auto const stripped = run({"strip", program}); stripped.status != 0)
      throw std::runtime_error("strip: " + first_line(stripped.errors));
    c.stripped_bytes = static_cast<long>(std::filesystem::file_size(program));
    std::string const text = place_.file("program.ii");
    auto const preprocessed = run(command(*c.library, {"-E", "-P", source_, "-o", text}));
    if (preprocessed.status != 0)
      throw std::runtime_error(compiler_ + " -E: " + first_line(preprocessed.errors));
    std::ifstream in(text);
    c.lines = 0;
    for (std::string line; std::getline(in, line);) ++c.lines;
  }

  std::string describe() const {
    auto const own = std::find_if(cells_.begin(), cells_.end(), [](Cell const& c) {
      return c.library->name == std::string("nigh");
    });
    Table t;
    t.row({"", "cpu s", "least", "most", "beside nigh", "stripped kB", "unstripped kB", "lines"});
    t.rule();
    for (Cell const& c : cells_) {
      if (!c.absent.empty()) {
        t.row({c.library->name, "absent"});
        continue;
      }
      auto const s = statistics_of(c.samples);
      t.row({c.library->name, fmt::format("{:.2f}", s.median), fmt::format("{:.2f}", s.min),
             fmt::format("{:.2f}", s.max),
             own != cells_.end() && own->absent.empty()
                 ? fmt::format("{:.2f}", median_of_ratios(c.samples, own->samples))
                 : "-",
             fmt::format("{:.1f}", static_cast<double>(c.stripped_bytes) / 1000),
             fmt::format("{:.1f}", static_cast<double>(c.bytes) / 1000),
             fmt::format("{}", c.lines)});
    }
    return fmt::format("{} by {} {}: cpu seconds to compile and link, medians of {}\n\n{}\n",
                       program_.name, compiler_, fmt::join(options_.flags, " "),
                       options_.repetitions, t.text());
  }

  std::vector<Result> results() const {
    std::vector<Result> all;
    auto const version = first_line(run({compiler_, "--version"}).output);
    for (Cell const& c : cells_) {
      Result r;
      r.bench = std::string("compile/") + program_.name;
      r.variant = c.library->name;
      r.params = {{"compiler", compiler_},
                  {"version", version},
                  {"flags", fmt::format("{}", fmt::join(options_.flags, " "))}};
      r.metric = "compile_time";
      r.unit = "s";
      r.absent = c.absent;
      if (c.absent.empty()) {
        r.samples = c.samples;
        r.verified = c.verified;
        r.counters = {{"stripped_bytes", c.stripped_bytes},
                      {"unstripped_bytes", c.bytes},
                      {"preprocessed_lines", c.lines}};
      }
      all.push_back(std::move(r));
    }
    return all;
  }

  CompileOptions const& options_;
  Program const& program_;
  std::string compiler_, source_;
  Workplace place_;
  std::vector<Cell> cells_;
};

}  // namespace
}  // namespace bench

int main(int argc, char** argv) {
  using namespace bench;
  CompileFlags f;
  std::optional<CompileOptions> o;
  return run_benchmark(
      {.name = "compile",
       .measures =
           "how long small parallel programs compile, and how large they are, with each library",
       .wrong = "a program prints a wrong answer",
       .samples = "each; default 7",
       .quick = "one compiler and one sample",
       .process = Benchmark::Process::plain,
       .options =
           [&](CLI::App& app) {
             app.add_option("--programs", f.programs, "for, fib, reduce, sort; default: all");
             app.add_option("--libraries", f.libraries, "as nigh,tbb; default: all");
             app.add_option("--compilers", f.compilers,
                            "programs; default: g++ and clang++, where they are");
             app.add_option("--optimise", f.optimise, "default -O2");
             app.add_option("--include", f.include,
                            "a folder with headers of a library; again for more");
           },
       .list =
           [] {
             for (Program const& p : all_programs) fmt::print("program {}\n", p.name);
             for (Library const& l : all_libraries) fmt::print("library {}\n", l.name);
           },
       .plan = [&]() -> Plan {
         o = check(f);
         Plan plan;
         plan.machine = &o->machine;
         for (std::string const& compiler : o->compilers)
           for (Program const* program : o->programs)
             plan.parts.push_back(
                 [program, compiler, &o] { return Measurement(*o, *program, compiler).measure(); });
         return plan;
       }},
      f, argc, argv);
}
