// SPDX-License-Identifier: Apache-2.0
// The words of --adjust. Their effect on a team is asserted in src/openmp/team_size.hpp.
#include "settings/team_adjust.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nigh::settings {
namespace {

struct Read {
  std::vector<AdjustItem> items;
  bool is_good;
  std::string_view wrong;
};

Read read(std::string_view list) {
  Read r{};
  r.is_good = read_adjust(list, r.wrong, [&](AdjustItem const& item) { r.items.push_back(item); });
  return r;
}

TEST(TeamAdjust, WordsAreForAllRegions) {
  EXPECT_EQ(read("none").items, (std::vector<AdjustItem>{{"", Adjust::none}}));
  EXPECT_EQ(read("without-clause").items, (std::vector<AdjustItem>{{"", Adjust::without_clause}}));
  EXPECT_EQ(read("all,nests").items,
            (std::vector<AdjustItem>{{"", Adjust::all}, {"", Adjust::nests}}));
}

TEST(TeamAdjust, NamesAreOfLibraries) {
  auto const r = read("libfoo,none,libbar.so.1=all,/x/=none,baz=without-clause");
  EXPECT_TRUE(r.is_good);
  EXPECT_EQ(r.items, (std::vector<AdjustItem>{{"libfoo", Adjust::without_clause},
                                              {"", Adjust::none},
                                              {"libbar.so.1", Adjust::all},
                                              {"/x/", Adjust::none},
                                              {"baz", Adjust::without_clause}}));
}

TEST(TeamAdjust, MistakesAreNamed) {
  for (auto const& [list, wrong] :
       std::vector<std::pair<std::string, std::string>>{{"", ""},
                                                        {",", ""},
                                                        {"all,", ""},
                                                        {",all", ""},
                                                        {"a=some", "a=some"},
                                                        {"none,a=nests,all", "a=nests"},
                                                        {"=all", "=all"},
                                                        {"a=", "a="},
                                                        {"all=none", "all=none"},
                                                        {"a b", "a b"},
                                                        {"a=b=all", "a=b=all"},
                                                        {"a\n", "a\n"}}) {
    auto const r = read(list);
    EXPECT_FALSE(r.is_good) << list;
    EXPECT_EQ(r.wrong, wrong) << list;
  }
}

TEST(TeamAdjust, FilesAreKnownByTheirNames) {
  EXPECT_TRUE(names_file("libfoo", "libfoo.so"));
  EXPECT_TRUE(names_file("foo", "/usr/lib/libfoo_2.so"));
  EXPECT_TRUE(names_file("lulesh", "/home/u/lulesh2.0"));
  EXPECT_TRUE(names_file("lib", "/usr/lib/lib.so"));
  EXPECT_TRUE(names_file("/ensemble/", "/p/sklearn/ensemble/x.so"));
  EXPECT_FALSE(names_file("foo", "/usr/lib/libfoobar.so"));
  EXPECT_FALSE(names_file("bar", "/usr/lib/libfoobar.so"));
  EXPECT_FALSE(names_file("lib", "/usr/lib/libfoo.so"));
  EXPECT_FALSE(names_file("foo", ""));
  EXPECT_FALSE(names_file("foo", "/foo/"));
}

}  // namespace
}  // namespace nigh::settings
