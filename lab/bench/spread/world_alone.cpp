// SPDX-License-Identifier: Apache-2.0
#include "bench/spread/world.hpp"

namespace bench {

World::World(int&, char**&) {}
World::~World() = default;
std::unique_ptr<jacobi2d::Courier> World::courier(Sends) const { return nullptr; }
void World::wait_for_all() const {}
double World::longest(double seconds) const { return seconds; }
std::uint64_t World::sum(std::uint64_t checksum) const { return checksum; }

}  // namespace bench
