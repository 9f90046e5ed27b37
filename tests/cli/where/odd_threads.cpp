// SPDX-License-Identifier: Apache-2.0
// where-odd-threads CPU: threads that begin before main(), end by pthread_exit() or by being
// cancelled, come with an affinity to CPU, or are made after a library was opened.

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "mask.hpp"

namespace {

void* tell(void* into) {
  *static_cast<std::string*>(into) = allowed_cpus();
  return nullptr;
}
void* leave(void*) { pthread_exit(nullptr); }
void* wait_to_be_cancelled(void*) {
  for (;;) pause();
}

std::string told_by(pthread_attr_t const* attributes) {
  std::string mask;
  pthread_t thread;
  if (pthread_create(&thread, attributes, tell, &mask) != 0) std::exit(1);
  pthread_join(thread, nullptr);
  return mask;
}

__attribute__((constructor)) void before_main() {
  std::printf("thread early %s\n", told_by(nullptr).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 1;
  for (int i = 0; i < 100; ++i) {
    pthread_t thread;
    if (pthread_create(&thread, nullptr, i % 2 == 0 ? leave : wait_to_be_cancelled, nullptr) != 0)
      return 1;
    if (i % 2 == 1) pthread_cancel(thread);
    pthread_join(thread, nullptr);
  }
  std::printf("thread later %s\n", told_by(nullptr).c_str());
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(static_cast<unsigned>(std::atoi(argv[1])), &set);
  pthread_attr_setaffinity_np(&attributes, sizeof set, &set);
  std::printf("thread asked %s\n", told_by(&attributes).c_str());
  // Any library opened now; what matters is that nothing in us minds.
  bool const opened = dlopen("libm.so.6", RTLD_NOW | RTLD_LOCAL) != nullptr;
  std::printf("thread opened %s\n", opened ? told_by(nullptr).c_str() : "not");
}
