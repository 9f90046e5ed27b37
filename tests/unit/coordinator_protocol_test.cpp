// SPDX-License-Identifier: Apache-2.0
// The coordinator's messages: what they look like as bytes, and what is refused.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "coordinator/protocol/codec.hpp"
#include "random_messages.hpp"

namespace nigh::coordinator {
namespace {

using Bytes = std::vector<std::byte>;

template <class Message>
Bytes bytes_of(Message const& message) {
  auto const frame = encode(message);
  return {frame.bytes().begin(), frame.bytes().end()};
}

DecodeError error_of(Bytes const& bytes) {
  auto const decoded = decode_from_program(bytes);
  EXPECT_TRUE(std::holds_alternative<DecodeError>(decoded)) << "was taken for a message";
  auto const* const error = std::get_if<DecodeError>(&decoded);
  return error != nullptr ? *error : DecodeError{255};
}

void set_u32(Bytes& bytes, std::size_t at, std::uint32_t value) {
  for (std::size_t i = 0; i < 4; ++i)
    bytes[at + i] = static_cast<std::byte>(value >> (8 * i) & 0xff);
}

TEST(Protocol, LaysARequestOutAsDocumented) {
  auto const bytes = bytes_of(ProgramMessage{Request{.region = 0x0102030405060708,
                                                     .ticket = 9,
                                                     .demand = {16, 8},
                                                     .place = 3,
                                                     .returned = 0x11,
                                                     .patience_us = 0x1234}});
  unsigned char const expected[] = {
      'n',  'i',  'g', 'h', 6, 0, 2, 0, 52, 0, 0, 0, 0, 0, 0, 0,  //
      8,    7,    6,   5,   4, 3, 2, 1, 9,  0, 0, 0,              // region, ticket
      16,   0,    0,   0,   8, 0, 0, 0, 3,  0, 0, 0,              // demand, place
      17,   0,    0,   0,   0, 0, 0, 0,                           // returned
      0x34, 0x12, 0,   0};                                        // patience
  ASSERT_EQ(bytes.size(), sizeof expected);
  EXPECT_EQ(std::memcmp(bytes.data(), expected, sizeof expected), 0);
}

TEST(Protocol, ReadsWhatItWrote) {
  test::RandomMessages random(1);
  for (int i = 0; i < 3000; ++i) {
    auto const from_program = random.from_program();
    auto const read = decode_from_program(bytes_of(from_program));
    ASSERT_EQ(std::get<ProgramMessage>(read), from_program);
    auto const from_coordinator = random.from_coordinator();
    auto const answer = decode_from_coordinator(bytes_of(from_coordinator));
    ASSERT_EQ(std::get<CoordinatorMessage>(answer), from_coordinator);
  }
}

TEST(Protocol, RefusesEveryOtherLength) {
  test::RandomMessages random(2);
  for (int i = 0; i < 20; ++i) {
    auto const whole = bytes_of(random.from_program());
    for (std::size_t n = 0; n < whole.size(); ++n)
      ASSERT_EQ(error_of({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(n)}),
                DecodeError::wrong_size);
    auto longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_EQ(error_of(longer), DecodeError::wrong_size);
    set_u32(longer, 8, static_cast<std::uint32_t>(longer.size()));
    EXPECT_EQ(error_of(longer), DecodeError::wrong_size) << "and believes no header";
  }
}

TEST(Protocol, SaysWhatIsForeign) {
  auto const good = bytes_of(ProgramMessage{Query{1}});
  auto bytes = good;
  bytes[0] = std::byte{'N'};
  EXPECT_EQ(error_of(bytes), DecodeError::not_nigh);
  EXPECT_EQ(version_in(bytes), 0);
  EXPECT_EQ(version_in(good), protocol_version);
  for (int version : {0, 1, 2, 3, 4, 5, 7, 0x0106}) {
    bytes = good;
    bytes[4] = static_cast<std::byte>(version & 0xff);
    bytes[5] = static_cast<std::byte>(version >> 8);
    EXPECT_EQ(error_of(bytes), DecodeError::foreign_version);
    EXPECT_EQ(version_in(bytes), version);
    bytes.resize(header_size + 1000);  // the rest may be anything
    EXPECT_EQ(error_of(bytes), DecodeError::foreign_version);
  }
  EXPECT_EQ(version_in(std::span(good).first(header_size - 1)), 0);
  for (int kind : {0, 7, 128, 129, 133, 255}) {
    bytes = good;
    bytes[6] = static_cast<std::byte>(kind);
    EXPECT_EQ(error_of(bytes), DecodeError::unknown_kind);
  }
  bytes = good;
  bytes[12] = std::byte{1};
  EXPECT_EQ(error_of(bytes), DecodeError::wrong_value);
  EXPECT_EQ(error_of(bytes_of(CoordinatorMessage{Welcome{1, 1}})), DecodeError::unknown_kind);
}

TEST(Protocol, RefusesValuesOutOfRange) {
  auto const request = bytes_of(ProgramMessage{Request{.demand = {16, 8}}});
  constexpr std::size_t maximum = 28, optimal = 32, place = 36, patience = 48;
  struct {
    std::size_t at;
    std::uint32_t value;
  } const changes[] = {{maximum, 7},
                       {maximum, 0},
                       {maximum, 1025},
                       {optimal, 17},
                       {place, 1024},
                       {place, 0xfffffffe},
                       {patience, longest_patience_us + 1}};
  for (auto const& change : changes) {
    auto bytes = request;
    set_u32(bytes, change.at, change.value);
    EXPECT_EQ(error_of(bytes), DecodeError::wrong_value) << change.at << ' ' << change.value;
  }
}

TEST(Protocol, RefusesTeamsThatCannotBe) {
  auto const claim =
      bytes_of(ProgramMessage{Claim{.demand = {4, 2}, .team = CpuTeam(std::vector<int>{5, 3, 8})}});
  constexpr std::size_t size = 16 + 8 + 4 + 8, first = size + 2;
  auto const with = [&](std::size_t at, int low, int high) {
    auto bytes = claim;
    bytes[at] = static_cast<std::byte>(low);
    bytes[at + 1] = static_cast<std::byte>(high);
    return error_of(bytes);
  };
  EXPECT_EQ(with(size, 0, 0), DecodeError::wrong_value) << "nobody";
  EXPECT_EQ(with(size, 4, 4), DecodeError::wrong_value) << "more than there is room for";
  EXPECT_EQ(with(size, 255, 255), DecodeError::wrong_value);
  EXPECT_EQ(with(size, 2, 0), DecodeError::wrong_value) << "a cpu behind the last";
  EXPECT_EQ(with(first + 2, 5, 0), DecodeError::wrong_value) << "one cpu twice";
  EXPECT_EQ(with(first, 0, 4), DecodeError::wrong_value) << "cpu 1024";
}

TEST(Protocol, CutsNamesAtACharacterAndDisarmsThem) {
  EXPECT_EQ(Name("solver").view(), "solver");
  EXPECT_EQ(Name("\x1b[2Jx\n").view(), "?[2Jx?");
  std::string const umlauts = std::string(46, 'a') + "\xc3\xa4\xc3\xa4";  // the first ends at 48
  EXPECT_EQ(Name(umlauts).view(), std::string(46, 'a'));
  EXPECT_EQ(Name(std::string(100, 'b')).view().size(), 47u);
  auto const good = bytes_of(ProgramMessage{Register{.pid = 1, .name = Name("x"), .allowed = [] {
                                                       CpuSet set;
                                                       set.add(0);
                                                       return set;
                                                     }()}});
  for (auto [at, value] : {std::pair{20, 27}, {22, 'y'}, {67, 'y'}}) {
    auto bytes = good;
    bytes[static_cast<std::size_t>(at)] = static_cast<std::byte>(value);
    EXPECT_EQ(error_of(bytes), DecodeError::wrong_value) << at;
  }
}

// Each message that the reader accepts has one way to be written.
TEST(Protocol, WithAnyBitWrongStillWritesWhatItRead) {
  test::RandomMessages random(3);
  for (int i = 0; i < 60; ++i) {
    auto bytes = bytes_of(random.from_program());
    for (std::size_t bit = 0; bit < bytes.size() * 8; bit += 1 + random.below(7)) {
      bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
      auto const decoded = decode_from_program(bytes);
      if (auto const* m = std::get_if<ProgramMessage>(&decoded)) {
        ASSERT_EQ(bytes_of(*m), bytes);
      }
      bytes[bit / 8] ^= static_cast<std::byte>(1 << bit % 8);
    }
  }
}

}  // namespace
}  // namespace nigh::coordinator
