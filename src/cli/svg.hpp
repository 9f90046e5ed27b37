// SPDX-License-Identifier: Apache-2.0
#pragma once
// A few SVG elements, written in order.

#include <fmt/format.h>

#include <iterator>
#include <string>
#include <string_view>

namespace nigh::cli {

class Svg {
 public:
  struct Rect {
    double x, y, w, h;
  };

  static std::string escaped(std::string_view text) {
    std::string out;
    for (char c : text) {
      switch (c) {
        case '&':
          out += "&amp;";
          break;
        case '<':
          out += "&lt;";
          break;
        case '>':
          out += "&gt;";
          break;
        case '"':
          out += "&quot;";
          break;
        default:
          out += c;
      }
    }
    return out;
  }

  // `hint` shows when a viewer points at the box.
  void rect(Rect r, double radius, std::string_view style, std::string_view hint = {}) {
    line(R"(<rect x="{:.5g}" y="{:.5g}" width="{:.5g}" height="{:.5g}" rx="{}" {})", r.x, r.y, r.w,
         r.h, radius, style);
    out_.pop_back();
    out_ += hint.empty() ? "/>\n" : "><title>" + escaped(hint) + "</title></rect>\n";
  }

  // y is the baseline.
  void text(double x, double y, std::string_view style, std::string_view text) {
    line(R"(<text x="{:.5g}" y="{:.5g}" {}>{}</text>)", x, y, style, escaped(text));
  }

  void raw(std::string_view xml) {
    out_ += xml;
    out_ += '\n';
  }

  std::string document(double w, double h) const {
    return fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" width="{0:.0f}" height="{1:.0f}" )"
        "viewBox=\"0 0 {0:.0f} {1:.0f}\">\n{2}</svg>\n",
        w, h, out_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
    out_ += '\n';
  }

  std::string out_;
};

}  // namespace nigh::cli
