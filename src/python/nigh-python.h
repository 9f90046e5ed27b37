// SPDX-License-Identifier: Apache-2.0
#pragma once
// The functions that the Python module calls (python/nigh/_library.py), in C. cffi reads this file,
// too, when the module loads the library beside it: so there is one declaration only, without
// macros, and it may change with each version. Nothing here throws.

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)
#ifdef __cplusplus
extern "C" {
#endif

// ---- a lease of the process

typedef struct nigh_lease nigh_lease;

// Tells the coordinator at this socket of the process, which may use these cpus. Null: no memory,
// or no descriptor. Without a coordinator, nigh_lease_obtain() tries again, at most once a second.
nigh_lease* nigh_lease_open(char const* socket, char const* name, int const* cpus, size_t count);

// Gives back what it holds, and waits a moment for cpus for so many threads. How many it got, their
// numbers in `cpus`, which has room for so many; 0: none, and *why says why.
int nigh_lease_obtain(nigh_lease* lease, unsigned threads, int* cpus, unsigned room,
                      char const** why);

// Where news arrives; -1: nowhere now. Another one after nigh_lease_obtain(), maybe.
int nigh_lease_socket(nigh_lease* lease);
// Waits for news at that socket, for so many microseconds (-1: as long as it takes), or until
// another thread calls nigh_lease_ring(). These two are called beside any other.
void nigh_lease_wait(nigh_lease* lease, int socket, int64_t timeout_us);
void nigh_lease_ring(nigh_lease* lease);
// The news. 0: none; 1: the coordinator asks for the lease; 2: there is no coordinator any more.
int nigh_lease_news(nigh_lease* lease);

// The lease goes back. No other call may be under way.
void nigh_lease_close(nigh_lease* lease);

// Where the user's own coordinator listens, unless NIGH_SOCKET says otherwise; null: no memory.
// Valid until the thread's next call.
char const* nigh_private_directory(void);

// How many cpus' worth of time the cgroups grant; 0: they set no bound.
double nigh_cpu_quota(void);

// ---- placed memory

typedef struct nigh_block nigh_block;

// `kind` as nigh::placement::kind, `value` as its domain or granule. Null: *why says why, and
// *error is 1 (a wrong argument), 2 (no memory) or 3 (the system refuses). *why is valid until the
// thread's next call.
nigh_block* nigh_block_make(size_t count, size_t element_bytes, int kind, size_t value,
                            int huge_pages, int* error, char const** why);
void nigh_block_free(nigh_block* block);
void* nigh_block_data(nigh_block* block);
char const* nigh_block_note(nigh_block* block);

typedef struct {
  size_t pages;
  size_t untouched;  // no page there yet
  size_t elsewhere;  // on a NUMA node that is no domain
  size_t unknown;    // the kernel would not tell
  size_t misplaced;  // in another domain than the placement's rule says
  size_t page_bytes;
} nigh_pages;

// The machine's domains, as `nigh topo` knows them, before any other call on memory: Linux's
// numbers of their nodes, their bytes, the domains that their cpus have memory from, and their cpus
// one after the other. Later calls change nothing. False: no memory.
int nigh_use_domains(size_t count, int const* os_nodes, uint64_t const* memory_bytes,
                     int const* nearest_memory, size_t const* cpu_counts, int const* cpus);

// Where the pages of any memory are; pages_of_domain has room for all domains. 0, or -1 and
// *why.
int nigh_where(void const* begin, size_t bytes, size_t* pages_of_domain, nigh_pages* found,
               char const** why);

// Moves the pages to a domain. 0, or -1 and *why.
int nigh_move(void const* begin, size_t bytes, int domain, char const** why);

#ifdef __cplusplus
}
#endif
#pragma GCC visibility pop
