// SPDX-License-Identifier: Apache-2.0
// Numbers for Prometheus: what they say, and how they are read.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "coordinator/server/metrics.hpp"
#include "four_cpus.hpp"
#include "platform/local_listener.hpp"
#include "platform/local_socket.hpp"
#include "running_server.hpp"

namespace nigh::coordinator {
namespace {

std::string answer_of(Coordinator& core, Time now) {
  core.step(Tick{}, now);
  return metrics_answer(core.statuses());
}

TEST(Metrics, SayWhoHoldsWhat) {
  Coordinator core(four_cpus(), {}, 0);
  Register me{.pid = 42, .name = Name("a \"quoted\" name"), .allowed = set_of({0, 1, 2, 3})};
  core.step(Received{7, me}, 0);
  core.step(Energy{{{set_of({0, 1, 2, 3}), 0}}}, 0);
  core.step(Received{7, Request{.ticket = 1, .demand = {3, 3}}}, 0);
  core.step(Energy{{{set_of({0, 1, 2, 3}), 4'000'040}}}, 1);
  core.step(Load{set_of({3}), true}, 2);
  auto const answer = answer_of(core, 2);
  EXPECT_TRUE(answer.starts_with("HTTP/1.0 200 OK\r\n"));
  auto const body = answer.substr(answer.find("\r\n\r\n") + 4);
  EXPECT_NE(answer.find("Content-Length: " + std::to_string(body.size()) + "\r\n"), answer.npos);
  for (auto const* line :
       {"\nnigh_cpus 4\n", "\nnigh_cpus_free 1\n", "\nnigh_programs 1\n",
        "\nnigh_cpus_strangers 1\n", "\nnigh_cpus_strangers_unseen 1\n",
        "\nnigh_unplaced_total 0\n",
        "\nnigh_program_unplaced_total{program=\"1\",pid=\"42\",name=\"a \\\"quoted\\\" "
        "name\"} 0\n",
        "\nnigh_program_tasks_total{program=\"1\",pid=\"42\",name=\"a \\\"quoted\\\" "
        "name\"} 0\n",
        "\nnigh_energy_joules_total 4.000040\n",
        "\nnigh_program_cpus{program=\"1\",pid=\"42\",name=\"a \\\"quoted\\\" "
        "name\"} 3\n",
        "\nnigh_program_energy_joules_total{program=\"1\",pid=\"42\",name=\"a "
        "\\\"quoted\\\" name\"} 3.000030\n"})
    EXPECT_NE(body.find(line), body.npos) << line << body;
}

TEST(Metrics, HaveNoEnergyWhereItIsUnknown) {
  Coordinator core(four_cpus(), {}, 0);
  core.step(Received{7, Register{.pid = 42, .allowed = set_of({0})}}, 0);
  EXPECT_EQ(answer_of(core, 1).find("energy"), std::string::npos);
}

// A reader refuses all numbers for one that comes twice, and for a byte that is no UTF-8.
TEST(Metrics, AreApartForTwoProgramsOfAProcessAndAlwaysUtf8) {
  Coordinator core(four_cpus(), {}, 0);
  auto const* const name = "caf\xe9 \xc3\xa9";
  for (Connection const c : {7U, 8U})
    core.step(Received{c, {Register{.pid = 42, .name = Name(name), .allowed = set_of({0})}}}, 0);
  auto const answer = answer_of(core, 1);
  for (auto const* line : {"{program=\"1\",pid=\"42\",name=\"caf\\\\xe9 \xc3\xa9\"} 0\n",
                           "{program=\"2\",pid=\"42\",name=\"caf\\\\xe9 \xc3\xa9\"} 0\n"})
    EXPECT_NE(answer.find(line), answer.npos) << line << answer;
}

int reader_of(RunningServer const& server) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  server.metrics().copy(address.sun_path, sizeof address.sun_path - 1);
  int const reader = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  auto const* const generic = reinterpret_cast<sockaddr const*>(&address);
  EXPECT_EQ(::connect(reader, generic, sizeof address), 0);
  return reader;
}

// Until the other side closes.
std::string all_from(int reader) {
  std::string all;
  char part[4096];
  for (ssize_t n = 0; (n = ::read(reader, part, sizeof part)) > 0;)
    all.append(part, static_cast<std::size_t>(n));
  return all;
}

// More than a socket holds.
TEST(Metrics, AreReadToTheEndHoweverManyProgramsThereAre) {
  constexpr int programs = 600;
  if (platform::raise_descriptor_limit() < 2 * programs + 100) GTEST_SKIP() << "few descriptors";
  RunningServer const server;
  std::vector<int> connections;
  Register const me{.name = Name(std::string(47, '"')), .allowed = server.options().allowed};
  for (int i = 0; i < programs; ++i) {
    connections.push_back(platform::connect_local(server.socket().c_str()));
    ASSERT_EQ(platform::send_message(connections.back(), encode(ProgramMessage{me}).bytes()), 0);
    platform::wait_until_readable(connections.back(), -1);
    std::array<std::byte, largest_message> bytes;
    auto const welcome = platform::receive_message(connections.back(), bytes);
    ASSERT_GE(welcome.passed, 0);
    platform::close_descriptor(welcome.passed);
  }
  int const reader = reader_of(server);
  ASSERT_EQ(::write(reader, "GET /metrics HTTP/1.0\r\n\r\n", 25), 25);
  ::usleep(100'000);  // the server goes on meanwhile
  auto const answer = all_from(reader);
  auto const end_of_head = answer.find("\r\n\r\n");
  ASSERT_NE(end_of_head, answer.npos);
  auto const size = answer.size() - end_of_head - 4;
  EXPECT_GT(size, 250'000u);
  EXPECT_NE(answer.find("Content-Length: " + std::to_string(size) + "\r\n"), answer.npos) << size;
  ::close(reader);
  for (int const connection : connections) platform::close_descriptor(connection);
}

std::string answer_to(int reader) {
  EXPECT_EQ(::write(reader, "GET /metrics HTTP/1.0\r\n\r\n", 25), 25);
  auto answer = all_from(reader);
  ::close(reader);
  return answer;
}

// Writing them down takes long where there are many programs.
TEST(Metrics, AreWrittenDownOnceASecondForAllReaders) {
  RunningServer const server;
  auto const first = answer_to(reader_of(server));
  EXPECT_NE(first.find("\nnigh_programs 0\n"), first.npos) << first;
  ClientConnection program;
  ASSERT_TRUE(program.join(server.options()));
  EXPECT_EQ(answer_to(reader_of(server)), first);
  ::usleep(MetricsReaders::text_lasts_us);
  auto const later = answer_to(reader_of(server));
  EXPECT_NE(later.find("\nnigh_programs 1\n"), later.npos) << later;
}

TEST(Metrics, HaveFewReadersOfAUser) {
  RunningServer const server;
  std::vector<int> readers;
  for (int i = 0; i < MetricsReaders::most_of_a_user; ++i) readers.push_back(reader_of(server));
  int const one_more = reader_of(server);
  EXPECT_EQ(all_from(one_more), "") << "it is closed";
  ::close(one_more);
  for (int const reader : readers) EXPECT_NE(answer_to(reader), "");
  EXPECT_NE(answer_to(reader_of(server)), "") << "the others have left";
}

TEST(Metrics, AreNotKeptForWhoAsksForNothing) {
  RunningServer const server;
  int const reader = reader_of(server);
  EXPECT_EQ(all_from(reader), "") << "closed after three seconds";
  ::close(reader);
}

}  // namespace
}  // namespace nigh::coordinator
