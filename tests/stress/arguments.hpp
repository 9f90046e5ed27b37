// SPDX-License-Identifier: Apache-2.0
#pragma once
// Command line of a stress program: [--seed N] [--scale N] [--rounds N] [--leases 1]. Plays rounds,
// each from a seed of its own; prints the first seed, and that of a round that failed, for --seed N
// --rounds 1.

#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <random>

namespace stress {

struct Arguments {
  std::uint64_t seed = std::random_device{}();
  std::uint64_t scale = 1;
  std::uint64_t rounds = 0;  // 0: by scale
  std::uint64_t leases = 0;  // restless_leases.hpp
};

inline Arguments parse(int argc, char** argv) {
  Arguments a;
  for (int i = 1; i < argc; i += 2) {
    std::uint64_t* into = nullptr;
    if (std::strcmp(argv[i], "--seed") == 0) into = &a.seed;
    if (std::strcmp(argv[i], "--scale") == 0) into = &a.scale;
    if (std::strcmp(argv[i], "--rounds") == 0) into = &a.rounds;
    if (std::strcmp(argv[i], "--leases") == 0) into = &a.leases;
    char const* const text = i + 1 < argc ? argv[i + 1] : "";
    char const* const end = text + std::strlen(text);
    if (into == nullptr || text == end || std::from_chars(text, end, *into).ptr != end) {
      std::fprintf(stderr,
                   "%s: bad argument '%s %s'; [--seed N] [--scale N] [--rounds N] [--leases 1]\n",
                   argv[0], argv[i], text);
      std::exit(2);
    }
  }
  return a;
}

template <class Round>
int play(int argc, char** argv, std::uint64_t rounds_per_scale, Round round) {
  Arguments const a = parse(argc, argv);
  auto const rounds = a.rounds > 0 ? a.rounds : rounds_per_scale * a.scale;
  std::printf("seed %llu\n", static_cast<unsigned long long>(a.seed));
  std::fflush(stdout);
  std::mt19937_64 random(a.seed);
  for (std::uint64_t r = 0; r < rounds; ++r) {
    auto const seed = r == 0 ? a.seed : random();
    try {
      round(seed, a.scale);
    } catch (std::exception const& e) {
      std::printf("round %llu, seed %llu: %s\n", static_cast<unsigned long long>(r),
                  static_cast<unsigned long long>(seed), e.what());
      return EXIT_FAILURE;
    }
  }
  std::printf("%llu rounds passed\n", static_cast<unsigned long long>(rounds));
  return EXIT_SUCCESS;
}

}  // namespace stress
