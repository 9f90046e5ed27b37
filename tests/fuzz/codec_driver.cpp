// SPDX-License-Identifier: Apache-2.0
// Feeds the codec's fuzz entry where there is no libFuzzer: valid messages with a few bytes
// changed, cut or lengthened, and pure noise. --seed, --scale, --rounds as for the stress programs.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "coordinator/protocol/codec.hpp"
#include "fuzz/messages_played.hpp"
#include "random_messages.hpp"
#include "stress/arguments.hpp"

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size);

int main(int argc, char** argv) {
  constexpr int messages_per_round = 1000;
  int const result = stress::play(argc, argv, 100, [](std::uint64_t seed, std::uint64_t) {
    nigh::test::RandomMessages random(seed);
    std::vector<std::uint8_t> bytes;
    for (int i = 0; i < messages_per_round; ++i) {
      bytes.clear();
      if (random.below(8) == 0) {
        bytes.resize(random.below(100));
        for (auto& b : bytes) b = static_cast<std::uint8_t>(random.below(256));
      } else {
        auto const frame = random.below(2) == 0
                               ? nigh::coordinator::encode(random.from_program())
                               : nigh::coordinator::encode(random.from_coordinator());
        for (auto b : frame.bytes()) bytes.push_back(std::to_integer<std::uint8_t>(b));
        auto const near_the_front = random.below(2) == 0 ? std::size_t{48} : bytes.size();
        for (auto n = random.below(4); n > 0; --n)
          bytes[random.bits() % std::min(near_the_front, bytes.size())] =
              static_cast<std::uint8_t>(random.below(2) == 0 ? random.below(4) : random.below(256));
        if (random.below(8) == 0) bytes.resize(random.bits() % (bytes.size() + 20));
      }
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
  });
  fuzz::tell_messages();
  return result;
}
