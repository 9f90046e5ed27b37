// SPDX-License-Identifier: Apache-2.0
#pragma once
// Thread pools that are not OpenMP, so that their threads are on no granted cpus: which ones a
// process has, by the files that it has loaded, and which variable says their size when it starts.

#include <array>
#include <string_view>

namespace nigh::policy {

struct ThreadPool {
  std::string_view name;       // for people
  std::string_view variable;   // its size, read when the program starts; empty: there is none
  std::string_view file;       // a loaded file's name begins like this; empty: any
  std::string_view path;       // and this is part of its path; empty: any
  bool may_be_openmp = false;  // built either on threads of its own or on OpenMP's

  constexpr bool operator==(ThreadPool const&) const = default;
};

// A file that a process has loaded.
struct LoadedFile {
  std::string_view path;
  bool needs_openmp = false;  // it is linked to an OpenMP runtime
  bool holds_rayon = false;   // rayon is linked into it: it has no file of its own
};

// The first that fits counts.
inline constexpr std::array thread_pools{
    ThreadPool{"OpenBLAS", "OPENBLAS_NUM_THREADS", "libopenblas", "", true},
    ThreadPool{"OpenBLAS", "OPENBLAS_NUM_THREADS", "libscipy_openblas", "",
               true},  // numpy's wheels
    ThreadPool{"BLIS", "BLIS_NUM_THREADS", "libblis", "", true},
    ThreadPool{"MKL on oneTBB", "MKL_NUM_THREADS", "libmkl_tbb_thread", ""},
    ThreadPool{"oneTBB", "", "libtbb.so", ""},
    ThreadPool{"numba", "NUMBA_NUM_THREADS", "workqueue.", "/numba/"},
    ThreadPool{"Polars", "POLARS_MAX_THREADS", "", "/polars/"},
    ThreadPool{"Polars", "POLARS_MAX_THREADS", "", "/_polars_runtime"},
};
inline constexpr ThreadPool rayon{"rayon", "RAYON_NUM_THREADS", "", ""};

// Whether rayon is linked into a file with these bytes, even without symbols: its panics name its
// sources, ".../rayon-core-1.12.1/src/registry.rs". In two parts, or our own files would seem to
// hold it.
constexpr bool holds_rayon(std::string_view bytes) noexcept {
  constexpr std::string_view first = "/rayon-", rest = "core-";
  for (auto at = bytes.find(first); at != bytes.npos; at = bytes.find(first, at + 1))
    if (bytes.substr(at + first.size()).starts_with(rest)) return true;
  return false;
}

// Null: the file brings no pool.
constexpr ThreadPool const* pool_in(LoadedFile const& loaded) noexcept {
  auto const slash = loaded.path.rfind('/');
  auto const name = slash == std::string_view::npos ? loaded.path : loaded.path.substr(slash + 1);
  for (ThreadPool const& pool : thread_pools)
    if (name.starts_with(pool.file) && loaded.path.find(pool.path) != std::string_view::npos)
      return pool.may_be_openmp && loaded.needs_openmp ? nullptr : &pool;
  return loaded.holds_rayon ? &rayon : nullptr;
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
static_assert(holds_rayon("a/rayon-x/rayon-core-1.12.1/src") && !holds_rayon("a/rayon-"));

}  // namespace nigh::policy
