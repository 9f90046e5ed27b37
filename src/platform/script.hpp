// SPDX-License-Identifier: Apache-2.0
#pragma once
// Which script does an interpreter run? To people, and to a profile, the script is the program:
// python3 is the same for all of them.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nigh::platform {

// python3.11, perl, ruby, Rscript, R, julia, node, octave, lua, by the name of the program's file.
// Shells do not count: they begin no parallel regions.
bool is_interpreter(std::string_view program_file);

// As the interpreter's words say, the first of which is its own name.
struct ScriptWord {
  enum class Kind : std::uint8_t {
    none,    // it reads its standard input, or has the script itself among its words (-c, -e)
    file,    // by its path
    module,  // python3 -m NAME
  };
  Kind kind = Kind::none;
  std::string text = {};

  bool operator==(ScriptWord const&) const = default;
};
ScriptWord script_in(std::string_view program_file, std::vector<std::string> const& words);

struct Script {
  std::string name = {};            // "train.py", or that of a module
  std::filesystem::path path = {};  // of a module: empty
  // A hash of its path, or a module's name, and the interpreter. The script's text is left out: a
  // region's code is the interpreter's, or a library's, however the script is changed.
  std::uint64_t identity = 0;
};

// Relative paths are looked up in `directory`; all paths, below `root`. Nothing if there is no such
// file, as with `none` above.
std::optional<Script> script_of(ScriptWord const& word, std::uint64_t interpreter,
                                std::filesystem::path const& directory,
                                std::filesystem::path const& root = "/");

// Of a running process.
std::optional<Script> script_of_process(int process, std::string_view program_file,
                                        std::uint64_t interpreter,
                                        std::filesystem::path const& proc = "/proc");

}  // namespace nigh::platform
