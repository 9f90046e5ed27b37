// SPDX-License-Identifier: Apache-2.0
// Feeds a fuzz entry random bytes where there is no libFuzzer: inputs of about 3,000 bytes, some
// hundreds of events. --seed, --scale, --rounds as for the stress programs.
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "fuzz/messages_played.hpp"
#include "stress/arguments.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int argc, char** argv) {
  int const result = stress::play(argc, argv, 300, [](std::uint64_t seed, std::uint64_t) {
    std::mt19937_64 random(seed);
    std::vector<std::uint8_t> bytes(2000 + random() % 2000);
    for (auto& b : bytes) b = static_cast<std::uint8_t>(random() >> 56);
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  });
  fuzz::tell_messages();
  return result;
}
