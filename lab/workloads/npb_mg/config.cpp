// SPDX-License-Identifier: Apache-2.0
#include "npb_mg/config.hpp"

#include <cctype>
#include <cmath>

namespace npb_mg {

namespace {

constexpr Class all[] = {
    {'S', 32, 4, &smoother_a, 0.5307707005734e-04},
    {'W', 128, 4, &smoother_a, 0.6467329375339e-05},
    {'A', 256, 4, &smoother_a, 0.2433365309069e-05},
    {'B', 256, 20, &smoother_b, 0.1800564401355e-05},
    {'C', 512, 20, &smoother_b, 0.5706732285740e-06},
    {'D', 1024, 50, &smoother_b, 0.1583275060440e-09},
};

}  // namespace

std::span<Class const> classes() noexcept { return all; }

Class const* find_class(std::string_view name) noexcept {
  if (name.size() != 1) return nullptr;
  for (Class const& c : all)
    if (c.name == std::toupper(static_cast<unsigned char>(name[0]))) return &c;
  return nullptr;
}

bool verified(Class const& size, double norm) noexcept {
  return std::abs(norm - size.norm) <= tolerance * size.norm;
}

double mops(Class const& size, double seconds) noexcept {
  return 58.0 * size.iterations * static_cast<double>(size.points()) / seconds / 1e6;
}

}  // namespace npb_mg
