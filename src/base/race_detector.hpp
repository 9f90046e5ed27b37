// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tells a race detector of the program which of the library's operations order the program's
// memory.
//
// ThreadSanitizer sees the atomics of code that it has instrumented: a program's own, and those
// that nigh's headers bring into it. It does not see those inside of libnigh.so, and would take a
// task and its join for unordered. So each operation that hands the program's data from thread to
// thread says so:
//
//   announce_release(&word)   right before the operation that releases `word`
//   announce_acquire(&word)   right after the operation that has acquired it
//
// `word` is the atomic itself where there is one: the detector joins both with what it sees of the
// same word in a header. Only what the memory orders promise may be announced, otherwise real races
// are hidden.
//
// The names are ThreadSanitizer's own interface (compiler-rt's tsan_interface.h; LLVM's Archer, for
// OpenMP, finds its functions in the same way). They are weak: null without the sanitizer's
// runtime, and then each call is a load and a branch that is always predicted. No call is on the
// path of a fork that nobody steals. In a build of nigh with the sanitizer there is nothing to say:
// it checks the orders as they are.
//
// Any thread may call them. They do nothing for other tools, nor in libraries that are preloaded
// (NIGH_ANNOUNCES_NOTHING), which may run before the program's sanitizer does.

#if defined(__SANITIZE_THREAD__)
#define NIGH_ANNOUNCES_NOTHING
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define NIGH_ANNOUNCES_NOTHING
#endif
#endif

#if !defined(NIGH_ANNOUNCES_NOTHING)
extern "C" {
[[gnu::weak]] void __tsan_acquire(void* address);
[[gnu::weak]] void __tsan_release(void* address);
}
#endif

namespace nigh::base {

#if defined(NIGH_ANNOUNCES_NOTHING)

inline void announce_release(void const volatile*) noexcept {}
inline void announce_acquire(void const volatile*) noexcept {}
inline bool is_listened_to() noexcept { return false; }

#else

inline void announce_release(void const volatile* word) noexcept {
  if (__tsan_release != nullptr) [[unlikely]]
    __tsan_release(const_cast<void*>(word));
}
inline void announce_acquire(void const volatile* word) noexcept {
  if (__tsan_acquire != nullptr) [[unlikely]]
    __tsan_acquire(const_cast<void*>(word));
}
// Does anybody hear that?
inline bool is_listened_to() noexcept { return __tsan_release != nullptr; }

#endif

}  // namespace nigh::base
