// SPDX-License-Identifier: Apache-2.0
#include "openmp/libraries.hpp"

#include <array>
#include <cstdint>

namespace nigh::openmp {
namespace {

enum class Match : std::uint8_t {
  library,        // its file's name is that, and then no letter
  library_begin,  // its file's name begins so
  folder,         // it lies in such a folder
  program,        // the program's file has that name
  program_begin,  // its name begins so
};

struct Row {
  Match match;
  std::string_view text;
  TeamRule rule;
};

constexpr std::array table{
    // Its threads wait for each other as many as omp_get_max_threads() said there would be,
    // whatever
    // the team's size: with fewer they never end (0.3.21 of Debian, built with OpenMP).
    Row{Match::library_begin, "libopenblas", TeamRule::whole},
    Row{Match::library_begin, "libscipy_openblas", TeamRule::whole},
    // Sums in the order of its threads: 4 of 4 runs with smaller teams gave another model.
    Row{Match::library_begin, "libxgboost", TeamRule::whole},
    // Has arrays of omp_get_max_threads() values that it sums up afterwards, those included that no
    // thread has written: with OMP_NUM_THREADS=4 and fewer threads, 2.0 ended with an energy of
    // 7.49e5 instead of 8.47e4, and exit status 0.
    Row{Match::program_begin, "lulesh", TeamRule::whole},
    // Made the same with smaller teams, byte for byte, alone and beside others, with leases asked
    // back every millisecond (tests/foreign): Debian 12's 1.3.40, 6.9.11.60,
    // 5.1.0, 4.8.1, 0.8.1 and 5.3.0.
    Row{Match::library, "libGraphicsMagick", TeamRule::free},
    Row{Match::library, "libMagickCore", TeamRule::free},
    Row{Match::program, "muscle", TeamRule::free},
    Row{Match::program, "cd-hit-est", TeamRule::free},
    Row{Match::program, "par2", TeamRule::free},
    Row{Match::library, "libtesseract", TeamRule::free},
    // Histogram-based gradient boosting names a number in each prange(), and asks
    // omp_get_num_threads() within where it matters: 1.2.1 of Debian and 1.9.1 of PyPI.
    Row{Match::folder, "/sklearn/ensemble/_hist_gradient_boosting/", TeamRule::named},
};

constexpr bool matches(Row const& row, std::string_view path, bool is_program) {
  std::string_view file = path;
  if (file.rfind('/') != file.npos) file.remove_prefix(file.rfind('/') + 1);
  switch (row.match) {
    case Match::library:
      return !is_program && policy::names_file(row.text, file) && file.starts_with(row.text);
    case Match::library_begin:
      return !is_program && file.starts_with(row.text);
    case Match::folder:
      return !is_program && path.find(row.text) != path.npos;
    case Match::program:
      return is_program && file == row.text;
    case Match::program_begin:
      return is_program && file.starts_with(row.text);
  }
  return false;
}

}  // namespace

TeamRule rule_of(std::string_view path, bool is_program) noexcept {
  for (Row const& row : table)
    if (matches(row, path, is_program)) return row.rule;
  return TeamRule::unknown;
}

}  // namespace nigh::openmp
