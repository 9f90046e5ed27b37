// SPDX-License-Identifier: Apache-2.0
#pragma once
// The help of a command, in lines that a terminal of 80 columns shows whole. Includes CLI11, which
// the programs that have commands link to.

#include <CLI/CLI.hpp>
#include <cstddef>
#include <iostream>
#include <sstream>
#include <string>
#include <utility>

namespace nigh::base {

class HelpFormat : public CLI::Formatter {
 public:
  static constexpr std::size_t line_width = 80;

  std::string make_description(CLI::App const* app) const override {
    return wrapped(Formatter::make_description(app), 0);
  }
  std::string make_usage(CLI::App const* app, std::string name) const override {
    return wrapped(Formatter::make_usage(app, name), 2);
  }
  std::string make_footer(CLI::App const* app) const override {
    return app->get_footer().empty() ? "" : wrapped(app->get_footer(), 0);
  }
  std::string make_subcommand(CLI::App const* command) const override {
    return entry(command->get_name(), command->get_description());
  }
  std::string make_option(CLI::Option const* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option) + limits(option));
  }
  // The name of the value, without its limits. Long lists of values get spaces, so that they have
  // places to break.
  std::string make_option_opts(CLI::Option const* option) const override {
    auto const text = without_limits(option, Formatter::make_option_opts(option));
    if (text.size() < line_width / 2) return text;
    std::string spaced;
    for (bool in_list = false; char const c : text) {
      in_list = in_list || c == '{';
      spaced += c;
      if (in_list && c == ',') spaced += ' ';
    }
    return spaced;
  }

  // The words of the text in lines, all except the first indented. A longer word keeps its length.
  static std::string wrapped(std::string const& text, std::size_t indent, std::size_t column = 0) {
    std::string out;
    bool at_begin = true;
    std::istringstream words(text);
    for (std::string word; words >> word;) {
      if (!at_begin && column + 1 + word.size() > line_width) {
        out += '\n' + std::string(indent, ' ');
        column = indent;
      } else if (!at_begin) {
        out += ' ';
        ++column;
      }
      out += word;
      column += word.size();
      at_begin = false;
    }
    return out + (at_begin ? "" : "\n");
  }

 private:
  // Of a number, as CLI11 writes it behind the name of the value: "INT in [1 - 1000]".
  static std::string range(CLI::Option const* option) {
    auto const type = option->get_type_name();
    auto const colon = type.find(':');
    bool const is_range =
        colon != std::string::npos && type.find(" in [", colon) != std::string::npos;
    return is_range ? type.substr(colon + 1) : std::string();
  }

  static std::string limits(CLI::Option const* option) {
    auto text = range(option);
    if (text.empty()) return {};
    text = text.substr(text.find('[') + 1);
    text.resize(text.find(']'));
    if (auto const dash = text.find(" - "); dash != std::string::npos)
      text.replace(dash, 3, " to ");
    return "; " + text;
  }

  static std::string without_limits(CLI::Option const* option, std::string text) {
    auto const ending = ':' + range(option);
    if (auto const at = text.find(ending); ending.size() > 1 && at != std::string::npos)
      text.erase(at, ending.size());
    auto const& type = option->get_type_name();
    for (auto const& [plain, better] : {std::pair{"INT", "N"}, {"UINT", "N"}, {"FLOAT", "X"}})
      if (type == plain || type.starts_with(std::string(plain) + ':'))
        if (auto const at = text.find(plain); at == 1)
          text.replace(at, std::string(plain).size(), better);
    return text;
  }

  // A name on the left, its explanation on the right, or below where the name is long.
  std::string entry(std::string const& name, std::string const& explanation) const {
    auto out = "  " + wrapped(name, 6, 2);
    if (explanation.empty()) return out;
    auto const width = out.size() - 1;
    bool const beside = width + 1 < column_width_;  // with two spaces between
    if (beside) out.back() = ' ';
    out += std::string(beside ? column_width_ - width - 1 : column_width_, ' ');
    return out + wrapped(explanation, column_width_, column_width_);
  }
};

// Prints the help or the version that was asked for. False: it could not be written, as errno says.
inline bool print_help(CLI::App const& app, CLI::ParseError const& asked) {
  app.exit(asked);
  std::cout.flush();
  return static_cast<bool>(std::cout);
}

}  // namespace nigh::base
