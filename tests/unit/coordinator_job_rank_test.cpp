// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "coordinator/client/job_rank.hpp"

namespace nigh::coordinator {
namespace {

std::map<std::string, std::string> environment;

char* variable(char const* name) {
  auto const found = environment.find(name);
  return found == environment.end() ? nullptr : found->second.data();
}

JobRank rank_in(std::map<std::string, std::string> variables, std::uint64_t parent = 7) {
  environment = std::move(variables);
  return rank_in_job(variable, parent);
}

std::map<std::string, std::string> open_mpi(char const* rank, char const* job) {
  return {{"OMPI_COMM_WORLD_LOCAL_RANK", rank},
          {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
          {"PMIX_NAMESPACE", job}};
}

TEST(JobRank, IsWhatTheLauncherSays) {
  auto const one = rank_in(open_mpi("1", "a")), two = rank_in(open_mpi("2", "a"));
  EXPECT_EQ(one.rank, 1u);
  EXPECT_EQ(one.ranks, 4u);
  EXPECT_NE(one.job, 0u);
  EXPECT_EQ(two.rank, 2u);
  EXPECT_EQ(one.job, two.job);
  EXPECT_NE(one.job, rank_in(open_mpi("1", "b")).job);
  EXPECT_EQ(one.job, rank_in(open_mpi("1", "a"), 8).job) << "who has a name needs no parent";
}

TEST(JobRank, OneRankAloneIsOneToo) {
  static_cast<void>(rank_in({{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}));
  EXPECT_TRUE(is_rank(variable));
  static_cast<void>(rank_in({}));
  EXPECT_FALSE(is_rank(variable));
}

TEST(JobRank, HydrasRanksHaveTheirParentInCommon) {
  auto const rank = [](char const* r, std::uint64_t parent) {
    return rank_in({{"MPI_LOCALRANKID", r}, {"MPI_LOCALNRANKS", "2"}}, parent);
  };
  EXPECT_EQ(rank("0", 7).job, rank("1", 7).job);
  EXPECT_NE(rank("0", 7).job, rank("0", 8).job);
  EXPECT_EQ(rank("1", 7).rank, 1u);
}

TEST(JobRank, SlurmsStepsAndThoseOfMpirunWithinThem) {
  std::map<std::string, std::string> step{{"SLURM_LOCALID", "2"},
                                          {"SLURM_STEP_TASKS_PER_NODE", "3(x2)"},
                                          {"SLURM_JOB_ID", "17"},
                                          {"SLURM_STEP_ID", "0"}};
  EXPECT_EQ(rank_in(step).ranks, 3u);
  EXPECT_EQ(rank_in(step).rank, 2u);
  auto within = step;
  within.merge(open_mpi("3", "a"));
  EXPECT_EQ(rank_in(within).ranks, 4u);
  step.erase("SLURM_STEP_ID");  // a batch script itself
  EXPECT_EQ(rank_in(step), JobRank{});
}

TEST(JobRank, SlurmsHostsMayHaveDifferentNumbers) {
  auto const ranks = [](char const* numbers, char const* host) {
    return rank_in({{"SLURM_LOCALID", "1"},
                    {"SLURM_STEP_TASKS_PER_NODE", numbers},
                    {"SLURM_NODEID", host},
                    {"SLURM_JOB_ID", "17"},
                    {"SLURM_STEP_ID", "0"}})
        .ranks;
  };
  EXPECT_EQ(ranks("1,2", "1"), 2u);
  EXPECT_EQ(ranks("2(x3),4,3(x2)", "2"), 2u);
  EXPECT_EQ(ranks("2(x3),4,3(x2)", "3"), 4u);
  EXPECT_EQ(ranks("2(x3),4,3(x2)", "5"), 3u);
  for (auto const* bad : {"2(x3),4", "", "2(x", "2(xx),2(x9)", "2(x3;2(x9)", "2;2(x9)", "2(x3),"})
    EXPECT_EQ(ranks(bad, "7"), 0u) << bad;
}

TEST(JobRank, NoneWhereNobodySaysSoOrItMakesNoSense) {
  EXPECT_EQ(rank_in({}), JobRank{});
  EXPECT_EQ(rank_in(open_mpi("4", "a")), JobRank{});
  EXPECT_EQ(rank_in(open_mpi("-1", "a")), JobRank{});
  EXPECT_EQ(rank_in(open_mpi("x", "a")), JobRank{});
  EXPECT_EQ(rank_in({{"MPI_LOCALRANKID", "0"}, {"MPI_LOCALNRANKS", "1"}}), JobRank{})
      << "one rank is no job";
}

}  // namespace
}  // namespace nigh::coordinator
