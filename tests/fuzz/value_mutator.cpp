// SPDX-License-Identifier: Apache-2.0
// Half of the changes that libFuzzer makes to an input are of values that stand in it as text:
// numbers and quoted words. The structure stays, so that the readers of JSON, XML and lines get
// behind the parser. The other half are libFuzzer's own.
#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);
extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed);

namespace {

struct Value {
  std::size_t begin = 0, end = 0;
  bool is_number = false;
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Quoted words without their quotes; numbers, inside of words too.
std::vector<Value> values_in(std::string_view text) {
  std::vector<Value> found;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '"') {
      auto const end = text.find('"', at + 1);
      if (end != text.npos && end - at < 200) found.push_back({at + 1, end});
    }
    if (!is_digit(text[at])) continue;
    auto const begin = at > 0 && text[at - 1] == '-' ? at - 1 : at;
    while (at < text.size() && (is_digit(text[at]) || text[at] == '.')) ++at;
    found.push_back({begin, at, true});
    --at;
  }
  return found;
}

constexpr std::array<char const*, 28> odd_numbers{"0",
                                                  "-0",
                                                  "1",
                                                  "-1",
                                                  "2",
                                                  "3",
                                                  "7",
                                                  "63",
                                                  "64",
                                                  "65",
                                                  "127",
                                                  "255",
                                                  "256",
                                                  "1023",
                                                  "1024",
                                                  "65535",
                                                  "65536",
                                                  "2147483647",
                                                  "2147483648",
                                                  "-2147483649",
                                                  "4294967296",
                                                  "9223372036854775807",
                                                  "9223372036854775808",
                                                  "18446744073709551615",
                                                  "18446744073709551616",
                                                  "1e308",
                                                  "1e-320",
                                                  "0.5"};

template <class Random>
std::string other_than(std::string_view text, Value const& value, std::vector<Value> const& all,
                       Random& random) {
  auto const old = std::string(text.substr(value.begin, value.end - value.begin));
  auto const& another = all[random() % all.size()];
  auto const copied = std::string(text.substr(another.begin, another.end - another.begin));
  switch (random() % 4) {
    case 0:
      return copied;
    case 1: {
      std::array<std::uint8_t, 256> bytes{};
      std::copy_n(old.begin(), std::min(old.size(), bytes.size() / 2), bytes.begin());
      auto const size =
          LLVMFuzzerMutate(bytes.data(), std::min(old.size(), bytes.size() / 2), bytes.size());
      return {bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(size)};
    }
    case 2:
      if (value.is_number) {
        auto number = old;
        auto& digit = number[random() % number.size()];
        if (is_digit(digit)) digit = static_cast<char>('0' + random() % 10);
        return number;
      }
      return copied;
    default:
      return odd_numbers[random() % odd_numbers.size()];
  }
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size,
                                               std::size_t most, unsigned seed) {
  std::minstd_rand random(seed);
  std::string text(reinterpret_cast<char const*>(data), size);
  auto values = values_in(text);
  if (values.empty() || random() % 2 == 0) return LLVMFuzzerMutate(data, size, most);
  for (auto n = 1 + random() % 3; n > 0 && !values.empty(); --n) {
    auto const& value = values[random() % values.size()];
    text.replace(value.begin, value.end - value.begin, other_than(text, value, values, random));
    values = values_in(text);
  }
  if (text.size() > most) return LLVMFuzzerMutate(data, size, most);
  std::copy(text.begin(), text.end(), data);
  return text.size();
}
