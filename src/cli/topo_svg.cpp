// SPDX-License-Identifier: Apache-2.0
// The machine as a picture: its objects and their parts, the cpus of each memory (by colour), which
// of them are allowed, and how far apart domains are.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "base/cpu_list.hpp"
#include "cli/svg.hpp"
#include "cli/topo.hpp"
#include "cli/topo_boxes.hpp"

namespace nigh::cli {
namespace {

using ObjectKind = topology_object::kind;

constexpr double margin = 24;

// Hues of domains, told apart by colour-blind readers as far as hues can be; then around the wheel
// by the golden angle.
double hue_of(int domain) {
  constexpr std::array<double, 8> first{210, 32, 150, 330, 55, 265, 185, 5};
  auto const i = static_cast<std::size_t>(domain);
  return i < first.size() ? first[i] : std::fmod(137.508 * domain, 360);
}

// HSL to "#rrggbb": not every viewer knows hsl().
std::string colour(double hue, double saturation, double lightness) {
  auto const channel = [&](double n) {
    double const k = std::fmod(n + hue / 30, 12);
    double const a = saturation * std::min(lightness, 1 - lightness);
    return static_cast<int>(
        std::lround(255 * (lightness - a * std::max(-1.0, std::min({k - 3, 9 - k, 1.0})))));
  };
  return fmt::format("#{:02x}{:02x}{:02x}", channel(0), channel(8), channel(4));
}

std::string memory_colour(int domain) {
  return domain < 0 ? "#d5d8dd" : colour(hue_of(domain), 0.62, 0.72);
}
std::string cpu_colour(int domain) {
  return domain < 0 ? "#ffffff" : colour(hue_of(domain), 0.70, 0.90);
}
std::string edge_colour(int domain) {
  return domain < 0 ? "#9aa1ab" : colour(hue_of(domain), 0.45, 0.50);
}

constexpr std::string_view definitions = R"_(<style>
text { font-family: "Inter", "Helvetica Neue", "DejaVu Sans", Arial, sans-serif; fill: #1f2630; }
.h1 { font-size: 17px; font-weight: 600; } .note { font-size: 12px; fill: #5d6673; }
.title { font-size: 13px; font-weight: 600; } .bar { font-size: 11px; text-anchor: middle; }
.core { font-size: 10px; fill: #5d6673; } .cpu { font-size: 12px; text-anchor: middle; }
.no { fill: #9aa1ab; } .cell { font-size: 11px; text-anchor: middle; }
</style>
<defs><pattern id="no" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
<rect width="6" height="6" fill="#eceef0"/><rect width="2" height="6" fill="#d9dce0"/></pattern></defs>
<rect width="100%" height="100%" fill="#ffffff"/>)_";

constexpr std::string_view forbidden = R"_(fill="url(#no)" stroke="#c9ced5")_";

std::string cache_colour(topology_object const& o) {
  if (o.name.starts_with("L1")) return "#f2f4f7";
  return o.name.starts_with("L2") ? "#e6eaf0" : "#d9dfe8";
}

class Picture {
 public:
  explicit Picture(topology const& machine) : machine_(machine) {}

  std::string draw() {
    auto const boxes = boxes_of(machine_.root(), metrics_);
    svg_.raw(definitions);
    heading();
    box(boxes, margin, top_);
    double below = top_ + boxes.h + 28;
    double w = std::max(margin + boxes.w, heading_width_);
    if (machine_.domains().size() > 1) {
      auto const [right, bottom] = distances(margin, below);
      w = std::max(w, right);
      below = bottom + 24;
    }
    auto const [right, bottom] = legend(margin, below);
    return svg_.document(std::max(w, right) + margin, bottom + margin);
  }

 private:
  struct Corner {
    double right, bottom;
  };

  void heading() {
    // "source: 8 cpus on 4 cores ..." on two lines.
    auto const& all = machine_.description();
    auto const split = all.rfind(": ");
    auto const source = all.substr(0, split);
    auto const what =
        fmt::format("{}; allowed: {}", all.substr(split + 2), base::cpu_list(machine_.cpus()));
    svg_.text(margin, margin + 14, R"(class="h1")", source);
    svg_.text(margin, margin + 34, R"(class="note")", what);
    heading_width_ = margin + std::max(static_cast<double>(source.size()) * 10.7,
                                       static_cast<double>(what.size()) * 7.2);
  }

  void box(Box const& b, double x, double y) {
    auto const& o = *b.object;
    switch (o.type) {
      case ObjectKind::machine:
        break;
      case ObjectKind::cpu:
        cpu(b, x, y);
        break;
      case ObjectKind::memory:
        memory(b, x, y);
        break;
      case ObjectKind::cache:
        cache(b, x, y);
        break;
      case ObjectKind::core:
        core(b, x, y);
        break;
      default:
        frame(b, x, y);
    }
    for (auto const& m : b.memory) box(m, x + m.x, y + m.y);
    for (auto const& i : b.inner) box(i, x + i.x, y + i.y);
  }

  void cpu(Box const& b, double x, double y) {
    auto const& o = *b.object;
    auto const style = o.allowed ? fmt::format(R"(fill="{}" stroke="{}")", cpu_colour(o.domain),
                                               edge_colour(o.domain))
                                 : std::string(forbidden);
    auto hint = fmt::format("cpu {}", o.os_index);
    if (o.domain >= 0) hint += fmt::format(", domain {}", o.domain);
    if (!o.allowed) hint += ", not allowed";
    svg_.rect({x, y, b.w, b.h}, 4, style, hint);
    svg_.text(x + b.w / 2, y + b.h / 2 + 4.2, o.allowed ? R"(class="cpu")" : R"(class="cpu no")",
              box_label(o));
  }

  void memory(Box const& b, double x, double y) {
    auto const& o = *b.object;
    bool const bare = o.domain >= machine_.cpu_domains();
    auto style =
        fmt::format(R"(fill="{}" stroke="{}")", o.allowed ? memory_colour(o.domain) : "url(#no)",
                    edge_colour(o.allowed ? o.domain : -1));
    if (bare) style += R"( stroke-dasharray="5 3" stroke-width="1.5")";
    svg_.rect({x, y, b.w, b.h}, 4, style,
              o.domain < 0 ? label_of(o) : fmt::format("domain {}: {}", o.domain, label_of(o)));
    svg_.text(x + b.w / 2, y + b.h / 2 + 4, o.allowed ? R"(class="bar")" : R"(class="bar no")",
              box_label(o));
  }

  void cache(Box const& b, double x, double y) {
    double const pad = b.framed ? metrics_.gap : 0;
    if (b.framed) svg_.rect({x, y, b.w, b.h}, 6, R"(fill="#fbfcfd" stroke="#cdd3dc")");
    svg_.rect({x + pad, y + pad, b.w - 2 * pad, metrics_.bar}, 4,
              fmt::format(R"(fill="{}" stroke="#b9c1cc")", cache_colour(*b.object)),
              label_of(*b.object));
    svg_.text(x + b.w / 2, y + pad + metrics_.bar / 2 + 4, R"(class="bar")", box_label(*b.object));
  }

  void core(Box const& b, double x, double y) {
    svg_.rect({x, y, b.w, b.h}, 5, R"(fill="#ffffff" stroke="#cdd3dc")");
    svg_.text(x + metrics_.gap, y + 12, R"(class="core")", box_label(*b.object));
  }

  void frame(Box const& b, double x, double y) {
    bool const package = b.object->type == ObjectKind::package;
    svg_.rect({x, y, b.w, b.h}, 8,
              package ? R"(fill="#f6f7f9" stroke="#8d96a3" stroke-width="1.5")"
                      : R"(fill="none" stroke="#aab2bd" stroke-dasharray="4 3")");
    svg_.text(x + metrics_.gap, y + 16, R"(class="title")", box_label(*b.object));
  }

  // From light (local) to dark (far), with the numbers while they fit.
  Corner distances(double x, double y) {
    auto const n = static_cast<int>(machine_.domains().size());
    bool const numbers = n <= 32;
    double const w = numbers ? 36 : 10;
    double const h = numbers ? 24 : 10;
    double far = 10;
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to) far = std::max(far, machine_.distance(from, to));
    auto const source = machine_.has_firmware_distances() ? "from the firmware" : "by level";
    auto const title = fmt::format("Distance from cpus (row) to memory (column), {}", source);
    svg_.text(x, y + 12, R"(class="title")", title);
    double const left = x + 36;
    double const top = y + 24 + (numbers ? 20 : 8);
    for (int i = 0; i < n; ++i) {
      if (!numbers && i % 8 != 0) continue;
      auto const name = fmt::format("D{}", i);
      svg_.text(left + (i + 0.5) * w, top - 6, R"(class="cell")", name);
      svg_.text(x + 16, top + i * h + h / 2 + 4, R"(class="cell")", name);
    }
    for (int from = 0; from < n; ++from)
      for (int to = 0; to < n; ++to) {
        double const value = machine_.distance(from, to);
        double const share = far > 10 ? std::clamp((value - 10) / (far - 10), 0.0, 1.0) : 0;
        svg_.rect({left + to * w, top + from * h, w, h}, 0,
                  fmt::format(R"(fill="{}" stroke="#ffffff")",
                              colour(44 - 26 * share, 0.85, 0.95 - 0.30 * share)),
                  fmt::format("domain {} to domain {}: {:.4g}", from, to, value));
        if (numbers)
          svg_.text(left + (to + 0.5) * w, top + from * h + h / 2 + 4, R"(class="cell")",
                    fmt::format("{:.3g}", value));
      }
    return {std::max(left + n * w, x + static_cast<double>(title.size()) * 7.6), top + n * h};
  }

  Corner legend(double x, double y) {
    auto const entry = [&](std::string_view style, std::string_view text) {
      svg_.rect({x, y, 18, 14}, 3, style);
      svg_.text(x + 25, y + 11, R"(class="note")", text);
      x += 25 + static_cast<double>(text.size()) * 6.4 + 22;
    };
    bool const bare = machine_.cpu_domains() < static_cast<int>(machine_.domains().size());
    entry(fmt::format(R"(fill="{}" stroke="{}")", memory_colour(0), edge_colour(0)),
          "memory of a domain (D)");
    if (bare)
      entry(fmt::format(R"(fill="{}" stroke="{}" stroke-dasharray="5 3" stroke-width="1.5")",
                        memory_colour(-1), edge_colour(-1)),
            "memory without cpus");
    entry(R"(fill="#d9dfe8" stroke="#b9c1cc")", "cache");
    entry(fmt::format(R"(fill="{}" stroke="{}")", cpu_colour(0), edge_colour(0)),
          "cpu, in its domain's colour");
    entry(forbidden, "not allowed");
    return {x - 22, y + 14};
  }

  topology const& machine_;
  Metrics metrics_;
  Svg svg_;
  double top_ = margin + 52;
  double heading_width_ = 0;
};

}  // namespace

std::string topo_svg(topology const& machine) { return Picture(machine).draw(); }

}  // namespace nigh::cli
