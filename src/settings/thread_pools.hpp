// SPDX-License-Identifier: Apache-2.0
#pragma once
// The one table of thread pools: the file of a process that each is known by, the variable that
// sets its size at the start, and whether the size can be set from outside. Only OpenMP's threads
// are on granted cpus.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

namespace nigh::settings {

// A loaded file's name begins like `name`, and `folder` is part of its path; empty: any.
struct PoolFile {
  std::string_view name = {};
  std::string_view folder = {};

  constexpr bool is_none() const noexcept { return name.empty() && folder.empty(); }
  constexpr bool operator==(PoolFile const&) const = default;
};

struct ThreadPool {
  std::string_view name;           // for people
  std::string_view variable = {};  // its size, read when the program starts; empty: there is none
  bool hears_openmp = false;  // and it takes OMP_NUM_THREADS when that variable is not set
  bool may_be_openmp = false;      // built either on threads of its own or on OpenMP's
  std::array<PoolFile, 2> files = {};

  constexpr bool operator==(ThreadPool const&) const = default;
};

// A file that a process has loaded.
struct LoadedFile {
  std::string_view path;
  bool needs_openmp = false;  // it is linked to an OpenMP runtime
  bool holds_rayon = false;  // rayon is linked into it: rayon has no file of its own
};

// The first row that fits a process counts. By itself, each has a thread for each cpu, so that a
// size within a quota is never more. Not here: Julia (one thread unless told), Java and .NET (they
// read quotas themselves).
inline constexpr std::array thread_pools{
    ThreadPool{"OpenMP", "OMP_NUM_THREADS"},
    ThreadPool{
        "OpenBLAS", "OPENBLAS_NUM_THREADS", true, true, {{{"libopenblas"}, {"libscipy_openblas"}}}},
    ThreadPool{"MKL", "MKL_NUM_THREADS", true},
    ThreadPool{"MKL on oneTBB", "MKL_NUM_THREADS", true, false, {{{"libmkl_tbb_thread"}}}},
    ThreadPool{"BLIS", "BLIS_NUM_THREADS", true, true, {{{"libblis"}}}},
    ThreadPool{"oneTBB", "", false, false, {{{"libtbb.so"}}}},
    ThreadPool{"numexpr", "NUMEXPR_NUM_THREADS", true},
    ThreadPool{"numba", "NUMBA_NUM_THREADS", false, false, {{{"workqueue.", "/numba/"}}}},
    ThreadPool{"rayon", "RAYON_NUM_THREADS"},
    ThreadPool{"Polars",
               "POLARS_MAX_THREADS",
               false,
               false,
               {{{"", "/polars/"}, {"", "/_polars_runtime"}}}},
    ThreadPool{"joblib", "LOKY_MAX_CPU_COUNT"},
    ThreadPool{"TensorFlow", "TF_NUM_INTRAOP_THREADS"},
    ThreadPool{"Go", "GOMAXPROCS"},
};

// Null: no pool has that name.
constexpr ThreadPool const* pool_named(std::string_view name) noexcept {
  for (ThreadPool const& pool : thread_pools)
    if (pool.name == name) return &pool;
  return nullptr;
}

// Functions that give a library's pool another size while it idles. A build may put a prefix and a
// suffix around their names, as scipy_openblas_set_num_threads64_.
struct PoolSetter {
  std::string_view pool;
  std::string_view word;  // the user's, for `nigh run --adjust`
  char const* set;
  char const* get;
  bool may_lock;  // not for a signal handler
};
inline constexpr std::array pool_setters{
    // A plain store, unless there are to be more threads than ever before (0.3.30,
    // driver/others/blas_server.c).
    PoolSetter{"OpenBLAS", "openblas", "openblas_set_num_threads", "openblas_get_num_threads",
               false},
    PoolSetter{"BLIS", "blis", "bli_thread_set_num_threads", "bli_thread_get_num_threads", true},
};
inline constexpr std::array setter_prefixes{"", "scipy_"};
inline constexpr std::array setter_suffixes{"", "64_", "_64"};

// Whether rayon is linked into a file with these bytes, even without symbols: its panics name its
// sources, ".../rayon-core-1.12.1/src/registry.rs". The text is written here in two parts, or our
// own files would seem to hold it.
// Not by string_view::find(), which calls memchr(): a program's AddressSanitizer has one that refuses
// to read what lies between variables.
constexpr bool holds_rayon(std::string_view bytes) noexcept {
  constexpr std::string_view first = "/rayon-", rest = "core-";
  for (;;) {
    auto const at = std::search(bytes.begin(), bytes.end(), first.begin(), first.end());
    if (at == bytes.end()) return false;
    bytes.remove_prefix(static_cast<std::size_t>(at - bytes.begin()) + first.size());
    if (bytes.starts_with(rest)) return true;
  }
}

// Null: the file brings no pool.
constexpr ThreadPool const* pool_in(LoadedFile const& loaded) noexcept {
  auto const slash = loaded.path.rfind('/');
  auto const name = slash == std::string_view::npos ? loaded.path : loaded.path.substr(slash + 1);
  for (ThreadPool const& pool : thread_pools)
    for (PoolFile const& file : pool.files)
      if (!file.is_none() && name.starts_with(file.name) &&
          loaded.path.find(file.folder) != std::string_view::npos)
        return pool.may_be_openmp && loaded.needs_openmp ? nullptr : &pool;
  return loaded.holds_rayon ? pool_named("rayon") : nullptr;
}

// Whether a library of this name is an OpenMP runtime.
constexpr bool is_openmp_runtime(std::string_view library) noexcept {
  return library.starts_with("libgomp") || library.starts_with("libomp") ||
         library.starts_with("libiomp");
}

static_assert(pool_in({"/usr/lib/x86_64-linux-gnu/openblas-pthread/libopenblas.so.0"})->name ==
              "OpenBLAS");
static_assert(pool_in({"/usr/lib/openblas-openmp/libopenblas.so.0", true}) == nullptr);
static_assert(pool_in({"/venv/numpy.libs/libscipy_openblas64_-ff651d7f.so"})->variable ==
              "OPENBLAS_NUM_THREADS");
static_assert(pool_in({"/v/numba/np/ufunc/workqueue.cpython-311-x86_64-linux-gnu.so"})->name ==
              "numba");
static_assert(pool_in({"/opt/workqueue.so"}) == nullptr && pool_in({""}) == nullptr);
static_assert(pool_in({"/v/polars/polars.abi3.so", false, true})->name == "Polars");
static_assert(pool_in({"/usr/bin/rg", false, true})->name == "rayon");
static_assert(pool_in({"/opt/libmkl_tbb_thread.so.2"})->name == "MKL on oneTBB");
static_assert(holds_rayon("a/rayon-x/rayon-core-1.12.1/src") && !holds_rayon("a/rayon-"));

}  // namespace nigh::settings
