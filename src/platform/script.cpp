// SPDX-License-Identifier: Apache-2.0
#include "platform/script.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>

#include "platform/identity_hash.hpp"
#include "platform/whole_file.hpp"

namespace nigh::platform {
namespace fs = std::filesystem;
namespace {

// How an interpreter's options are read. Letters may be joined ("-uc"); a letter that takes a value
// takes the rest of its word.
struct Interpreter {
  std::string_view name;        // its file's name begins with it
  std::string_view ends_list;   // letters of options whose value is the script's text
  std::string_view with_value;  // whose value is the rest of the word, or the next one
  std::string_view with_rest;   // whose value, if any, is the rest of the word
  std::string_view module;      // whose value is a module's name
  std::string_view long_code;   // "--eval"
};

constexpr std::array interpreters{
    Interpreter{"python", "c", "WX", "", "m", ""},
    Interpreter{"pypy", "c", "WX", "", "m", ""},
    Interpreter{"perl", "eE", "I", "MmFiDCxdV", "", ""},
    Interpreter{"ruby", "e", "IrCE", "FKWTxi", "", ""},
    Interpreter{"julia", "eE", "ptLJHCg", "O", "", "--eval --print"},
    Interpreter{"node", "ep", "rC", "", "", "--eval --print"},
    Interpreter{"octave", "", "p", "", "", "--eval"},
    Interpreter{"lua", "e", "l", "", "", ""},
};

bool is_version(std::string_view text) {
  return text.find_first_not_of("0123456789.-") == text.npos;
}

bool is_r(std::string_view file) { return file == "R" || file == "Rscript"; }

Interpreter const* find(std::string_view file) {
  for (auto const& i : interpreters) {
    if (!file.starts_with(i.name)) continue;
    auto rest = file.substr(i.name.size());
    for (std::string_view variant : {"jit", "-cli", "-gui"})
      if (rest.starts_with(variant)) rest.remove_prefix(variant.size());
    if (is_version(rest)) return &i;
  }
  return nullptr;
}

ScriptWord file_or_none(std::string const& word) {
  using Kind = ScriptWord::Kind;
  return word.empty() || word == "-" ? ScriptWord{} : ScriptWord{Kind::file, word};
}

// Rscript becomes R, with --file.
ScriptWord script_of_r(std::vector<std::string> const& words) {
  constexpr std::string_view file = "--file=";
  for (std::size_t i = 1; i < words.size(); ++i) {
    auto const& word = words[i];
    if (word == "--args" || word == "-e") break;
    if (word.starts_with(file)) return file_or_none(word.substr(file.size()));
    if (word == "-f") return i + 1 < words.size() ? file_or_none(words[i + 1]) : ScriptWord{};
    if (!word.starts_with("-")) return file_or_none(word);  // Rscript itself
  }
  return {};
}

bool has_word(std::string_view list, std::string_view word) {
  auto const at = list.find(word);
  return at != list.npos && (at + word.size() == list.size() || list[at + word.size()] == ' ');
}

// The first words of a command line, which the process may make as long as its memory. A word that
// has no end within the limit is left out.
std::vector<std::string> words_in(fs::path const& command_line) {
  constexpr std::size_t most_bytes = 64 * 1024, most_words = 256;
  std::string text;
  std::vector<std::string> words;
  if (!read_beginning(command_line.c_str(), text, most_bytes)) return words;
  for (std::size_t at = 0; at < text.size() && words.size() < most_words;) {
    auto const end = text.find('\0', at);
    if (end == text.npos && text.size() == most_bytes) break;
    words.push_back(text.substr(at, end - at));
    at += words.back().size() + 1;
  }
  return words;
}

}  // namespace

bool is_interpreter(std::string_view program_file) {
  return is_r(program_file) || find(program_file) != nullptr;
}

ScriptWord script_in(std::string_view program_file, std::vector<std::string> const& words) {
  if (is_r(program_file)) return script_of_r(words);
  auto const* const interpreter = find(program_file);
  if (interpreter == nullptr) return {};
  auto const has = [](std::string_view letters, char c) { return letters.find(c) != letters.npos; };
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string_view const word = words[i];
    if (!word.starts_with('-') || word == "-") return file_or_none(words[i]);
    if (word == "--") return i + 1 < words.size() ? file_or_none(words[i + 1]) : ScriptWord{};
    if (word.starts_with("--")) {
      if (has_word(interpreter->long_code, word.substr(0, word.find('=')))) return {};
      if (word == "--check-hash-based-pycs") ++i;
      continue;
    }
    for (std::size_t at = 1; at < word.size(); ++at) {
      char const letter = word[at];
      bool const is_last = at + 1 == word.size();
      if (has(interpreter->ends_list, letter)) return {};
      if (has(interpreter->module, letter)) {
        auto const name = !is_last               ? std::string(word.substr(at + 1))
                          : i + 1 < words.size() ? words[i + 1]
                                                 : std::string();
        return name.empty() ? ScriptWord{} : ScriptWord{ScriptWord::Kind::module, name};
      }
      if (has(interpreter->with_rest, letter)) break;
      if (!has(interpreter->with_value, letter)) continue;
      if (is_last) ++i;
      break;
    }
  }
  return {};
}

std::optional<Script> script_of(ScriptWord const& word, std::uint64_t interpreter,
                                fs::path const& directory, fs::path const& root) {
  if (word.kind == ScriptWord::Kind::none || interpreter == 0) return std::nullopt;
  Script script;
  IdentityHash hash;
  hash.add(&interpreter, sizeof interpreter);
  hash.add(word.kind == ScriptWord::Kind::module ? "m" : "f", 1);
  if (word.kind == ScriptWord::Kind::module) {
    script.name = word.text;
    hash.add(word.text.data(), word.text.size());
  } else {
    script.path = (directory / word.text).lexically_normal();
    script.name = script.path.filename().string();
    struct stat what{};
    auto const file = root / script.path.relative_path();
    if (::stat(file.c_str(), &what) != 0 || S_ISCHR(what.st_mode) || S_ISFIFO(what.st_mode))
      return std::nullopt;
    auto const& text = script.path.native();
    hash.add(text.data(), text.size());
  }
  script.identity = hash.value();
  return script;
}

std::optional<Script> script_of_process(int process, std::string_view program_file,
                                        std::uint64_t interpreter, fs::path const& proc) {
  auto const its = proc / std::to_string(process);
  auto const word = script_in(program_file, words_in(its / "cmdline"));
  std::error_code failed;
  auto const directory = fs::read_symlink(its / "cwd", failed);
  // The directory and root of another user's process cannot be seen.
  if (failed && fs::path(word.text).is_relative() && word.kind == ScriptWord::Kind::file)
    return std::nullopt;
  auto const root = its / "root";
  return script_of(word, interpreter, directory, fs::exists(root, failed) ? root : fs::path("/"));
}

}  // namespace nigh::platform
