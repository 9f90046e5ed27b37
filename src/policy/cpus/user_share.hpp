// SPDX-License-Identifier: Apache-2.0
#pragma once
// How much may one user have while others want some as well: of cpus, of places in a queue, of
// connections?

#include <algorithm>
#include <cstddef>

namespace nigh::policy {

// Cpus of each of so many users when all have equally many, and of each program of a user.
constexpr int user_part(int cpus, int users) noexcept {
  return std::max(1, cpus / std::max(1, users));
}
constexpr int program_part(int cpus, int users, int programs_of_user) noexcept {
  return std::max(1, user_part(cpus, users) / std::max(1, programs_of_user));
}
static_assert(user_part(8, 1) == 8 && user_part(8, 3) == 2 && user_part(2, 5) == 1);
static_assert(program_part(8, 1, 4) == 2, "one user's programs share all cpus");
static_assert(program_part(8, 2, 100) == 1 && program_part(8, 2, 1) == 4);

// A user that holds its part waits behind users that do not.
constexpr bool has_its_part(int held, int cpus, int users) noexcept {
  return users > 1 && held >= user_part(cpus, users);
}
static_assert(!has_its_part(8, 8, 1), "who is alone may have everything");
static_assert(has_its_part(4, 8, 2) && !has_its_part(3, 8, 2));

// Whether cpus of one user are asked back for another one. A user that lacks some of its part takes
// from a user with more than its own; with more users than cpus, they take turns. Cpus left over
// beyond the parts stay where they are.
constexpr bool may_take(int asker_held, int owner_held, int cpus, int users) noexcept {
  if (has_its_part(asker_held, cpus, users)) return owner_held > asker_held + 1;
  return users > cpus ? owner_held > 0 : owner_held > user_part(cpus, users);
}
static_assert(may_take(0, 8, 8, 2) && may_take(3, 5, 8, 2) && !may_take(4, 4, 8, 2));
static_assert(!may_take(1, 2, 3, 2) && may_take(0, 1, 2, 3) && !may_take(0, 1, 4, 2));

// Whether a user may have one more of a resource with `all` units. It gets at most half of what the
// others leave free, so that something is left for the next user however many take what they can.
// Each user may have `least`, as long as there is any.
struct UserLimit {
  std::size_t all = 0;
  std::size_t least = 0;
};
constexpr bool may_have_one_more(std::size_t own, std::size_t everybodys,
                                 UserLimit limit) noexcept {
  if (everybodys >= limit.all) return false;
  auto const others = everybodys - own;
  return own < std::max(limit.least, (limit.all - others) / 2);
}
namespace detail {
constexpr std::size_t most_of(int greedy_users_before, UserLimit limit) noexcept {
  std::size_t everybodys = 0, own = 0;
  for (int user = 0; user <= greedy_users_before; ++user) {
    own = 0;
    while (may_have_one_more(own, everybodys, limit)) ++own, ++everybodys;
  }
  return own;
}
}  // namespace detail
static_assert(detail::most_of(0, {1024, 8}) == 512 && detail::most_of(1, {1024, 8}) == 256);
static_assert(detail::most_of(4, {1024, 8}) == 32, "four users lock no fifth out");
static_assert(detail::most_of(7, {1024, 8}) == 8, "a few are for each, while there are any");
static_assert(detail::most_of(0, {1, 1}) == 1);

}  // namespace nigh::policy
