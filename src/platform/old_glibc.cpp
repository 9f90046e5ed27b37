// SPDX-License-Identifier: Apache-2.0
// Lets a preloaded library run with every glibc from 2.28 on, whichever it is built with. A loader
// that misses one symbol's version would end every program that the library is preloaded into.
//
// Functions that moved between glibc's libraries got new versions; the names here, as our objects
// and those of the C++ runtime call them, mean the old version. Names that glibc did not have yet
// are defined. All of them are hidden: the program's own calls are not touched.

#include "platform/old_glibc.hpp"

#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

NIGH_OLD("dladdr", NIGH_BASE)
NIGH_OLD("dladdr1", NIGH_BASE_DLADDR1)
NIGH_OLD("dlopen", NIGH_BASE)
NIGH_OLD("dlsym", NIGH_BASE)
NIGH_OLD("dlvsym", NIGH_BASE)
NIGH_OLD("pthread_attr_getstacksize", NIGH_BASE)
NIGH_OLD("pthread_getspecific", NIGH_BASE)
NIGH_OLD("pthread_key_create", NIGH_BASE)
NIGH_OLD("__pthread_key_create", NIGH_BASE)
NIGH_OLD("pthread_key_delete", NIGH_BASE)
NIGH_OLD("pthread_mutex_trylock", NIGH_BASE)
NIGH_OLD("pthread_once", NIGH_BASE)
NIGH_OLD("__pthread_register_cancel", NIGH_BASE_CANCEL)
NIGH_OLD("__pthread_unregister_cancel", NIGH_BASE_CANCEL)
NIGH_OLD("__pthread_unwind_next", NIGH_BASE_CANCEL)
NIGH_OLD("pthread_rwlock_rdlock", NIGH_BASE)
NIGH_OLD("pthread_rwlock_unlock", NIGH_BASE)
NIGH_OLD("pthread_rwlock_wrlock", NIGH_BASE)
NIGH_OLD("pthread_setspecific", NIGH_BASE)
NIGH_OLD("sem_destroy", NIGH_BASE)
NIGH_OLD("sem_init", NIGH_BASE)
NIGH_OLD("sem_post", NIGH_BASE)
NIGH_OLD("sem_trywait", NIGH_BASE)
NIGH_OLD("sem_wait", NIGH_BASE)
// By names that programs hardly give to functions of their own, as they do log().
NIGH_OLD_AS("log", "logf64", "GLIBC_2.27")
NIGH_OLD_AS("lround", "lroundf64", "GLIBC_2.27")
NIGH_OLD_AS("pow", "powf64", "GLIBC_2.27")

// 2.32. False: the C++ runtime takes no short cuts for single-threaded programs.
NIGH_NEW char __libc_single_threaded;
char __libc_single_threaded = 0;

// 2.33; before, it was inline. The kernel's struct is glibc's on these processors.
NIGH_NEW int fstat(int descriptor, void* what) {
  return static_cast<int>(syscall(SYS_fstat, descriptor, what));
}

// 2.35. How the compiler's runtime finds the table by which an exception is passed up the stack;
// done here as the runtime did it before 2.35.
namespace {

struct FoundObject {  // glibc's dl_find_object
  unsigned long long flags;
  void* begin;
  void* end;
  void* link_map;
  void* table;
  void* reserved[7];
};

struct Search {
  std::uintptr_t address;
  FoundObject* found;
};

int look_at(dl_phdr_info* object, std::size_t, void* p) {
  auto const& search = *static_cast<Search*>(p);
  void* table = nullptr;
  void* begin = nullptr;
  void* end = nullptr;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    auto const& part = object->dlpi_phdr[i];
    auto const at = object->dlpi_addr + part.p_vaddr;
    if (part.p_type == PT_GNU_EH_FRAME) table = reinterpret_cast<void*>(at);
    if (part.p_type != PT_LOAD || search.address < at || search.address >= at + part.p_memsz)
      continue;
    begin = reinterpret_cast<void*>(at);
    end = reinterpret_cast<void*>(at + part.p_memsz);
  }
  if (begin == nullptr || table == nullptr) return 0;
  *search.found = {0, begin, end, nullptr, table, {}};
  return 1;
}

}  // namespace

// Under another name here: newer headers declare it.
NIGH_NEW int nigh_find_object(void* address, FoundObject* found) __asm__("_dl_find_object");
int nigh_find_object(void* address, FoundObject* found) {
  Search search{reinterpret_cast<std::uintptr_t>(address), found};
  return dl_iterate_phdr(look_at, &search) == 1 ? 0 : -1;
}

// 2.36. std::random_device calls it.
NIGH_NEW unsigned arc4random() {
  unsigned number = 0;
  if (syscall(SYS_getrandom, &number, sizeof number, 0) != sizeof number) std::abort();
  return number;
}
