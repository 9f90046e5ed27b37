/* SPDX-License-Identifier: Apache-2.0 */
/* The locality meter: a plugin for QEMU's software emulation that counts the memory accesses of
 * user code in the guest by (node of the cpu, node of the page), exactly.
 *
 *   -plugin locality_meter.so,cpus=2,memory=384:384[,cache=KIB][,all=on] -d plugin -D FILE
 *
 *   cpus    of each node that has any; cpus are numbered node by node
 *   memory  MiB of each node, in the order QEMU was given its memory backends
 *   cache   count only what misses a direct-mapped cache of so many KiB in each cpu, with lines of
 * 64 bytes and no coherence; without it, every load and store all     count from power-on; without
 * it, between the marks of include/nigh/locality_mark.h
 *
 * An access is one load or store as QEMU carries it out: a vector move counts once for each 8
 * bytes. Plugin interface version 1 (QEMU 6.0 to 8.2). Distributions do not package its header: the
 * few functions used are declared here. */
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
typedef uint32_t qemu_plugin_meminfo_t;
typedef struct {
  char const* target_name;
  struct {
    int min, cur;
  } version;
  bool system_emulation;
  struct {
    int smp_vcpus, max_vcpus;
  } system;
} qemu_info_t;
struct qemu_plugin_tb;
struct qemu_plugin_insn;
struct qemu_plugin_hwaddr;

enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };

typedef void on_translation(qemu_plugin_id_t, struct qemu_plugin_tb*);
typedef void on_execution(unsigned cpu, void*);
typedef void on_access(unsigned cpu, qemu_plugin_meminfo_t, uint64_t address, void*);
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, on_translation*);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn*, on_execution*, int, void*);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn*, on_access*, int, int, void*);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, void (*)(qemu_plugin_id_t, void*), void*);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb*);
struct qemu_plugin_insn* qemu_plugin_tb_get_insn(const struct qemu_plugin_tb*, size_t);
void const* qemu_plugin_insn_data(const struct qemu_plugin_insn*);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn*);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn*);
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);
struct qemu_plugin_hwaddr* qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t, uint64_t address);
bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr*);
uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr*);
void qemu_plugin_outs(char const*);
EXPORT int qemu_plugin_version = 1;

enum { MAX_NODES = 64, MAX_CPUS = 256, RANGES = 16, OTHER = RANGES - 1, LINE_SHIFT = 6 };
enum mark { MARK_START = 1, MARK_STOP, MARK_RANGE, MARK_RANGE_END, MARK_CLEAR };
/* The code of a range mark: two long no-ops and two loads. Other loads of this cpu are elsewhere.
 */
enum { RANGE_MARK_BYTES = 32 };

/* Each cpu writes to its own only; reports read them all while nothing is counted. */
typedef struct {
  uint64_t loads[RANGES][MAX_NODES], stores[RANGES][MAX_NODES]; /* by node of the memory */
  uint64_t mark_pc, first, last;                                /* the range being declared */
  uint64_t* line_in_cache;
} __attribute__((aligned(128))) Cpu;

static Cpu cpus[MAX_CPUS];
static struct {
  uint64_t begin, end;
} ranges[RANGES];
static struct {
  uint64_t begin, bytes;
} memory[MAX_NODES];
static int range_count, node_count, cpus_per_node = 1, cpu_count, active, lap;
static uint64_t cache_lines;

static int node_of(uint64_t physical) {
  for (int node = 0; node < node_count; ++node)
    if (physical - memory[node].begin < memory[node].bytes) return node;
  return -1;
}

static int range_of(uint64_t address) {
  for (int r = 0; r < range_count; ++r)
    if (address - ranges[r].begin < ranges[r].end - ranges[r].begin) return r;
  return OTHER;
}

static bool hits_cache(Cpu* cpu, uint64_t physical) {
  if (!cpu->line_in_cache) return false;
  uint64_t line = physical >> LINE_SHIFT, *held = &cpu->line_in_cache[line % cache_lines];
  if (*held == line) return true;
  *held = line;
  return false;
}

static void count(unsigned index, qemu_plugin_meminfo_t access, uint64_t address, void* pc) {
  Cpu* cpu = &cpus[index];
  if (__builtin_expect(cpu->mark_pc != 0, 0)) {
    if ((uint64_t)pc - cpu->mark_pc < RANGE_MARK_BYTES) {
      if (address < cpu->first) cpu->first = address;
      if (address > cpu->last) cpu->last = address;
    }
    return;
  }
  if (!__atomic_load_n(&active, __ATOMIC_RELAXED)) return;
  int range = range_of(address);
  if (range == OTHER && range_count) return; /* where ranges are declared, only they count */
  struct qemu_plugin_hwaddr* where = qemu_plugin_get_hwaddr(access, address);
  if (!where || qemu_plugin_hwaddr_is_io(where)) return;
  uint64_t physical = qemu_plugin_hwaddr_phys_addr(where);
  int node = node_of(physical);
  if (node < 0 || hits_cache(cpu, physical)) return;
  (qemu_plugin_mem_is_store(access) ? cpu->stores : cpu->loads)[range][node]++;
}

static void report_range(int label, int range) {
  uint64_t table[MAX_NODES][MAX_NODES] = {{0}}, loads = 0, stores = 0, local = 0;
  for (int c = 0; c < cpu_count; ++c)
    for (int node = 0; node < node_count; ++node) {
      uint64_t l = cpus[c].loads[range][node], s = cpus[c].stores[range][node];
      loads += l;
      stores += s;
      table[c / cpus_per_node][node] += l + s;
      if (c / cpus_per_node == node) local += l + s;
    }
  uint64_t all = loads + stores;
  if (!all) return;
  char text[64 + 24 * MAX_NODES], name[16];
  snprintf(name, sizeof name, range == OTHER ? "all" : "%d", range);
  snprintf(text, sizeof text,
           "locality: lap=%d label=%d range=%s accesses=%" PRIu64 " loads=%" PRIu64
           " stores=%" PRIu64 " remote=%" PRIu64 " remote_share=%.2f%%\n",
           lap, label, name, all, loads, stores, all - local,
           100.0 * (double)(all - local) / (double)all);
  qemu_plugin_outs(text);
  for (int from = 0; from * cpus_per_node < cpu_count; ++from) {
    int used =
        snprintf(text, sizeof text, "locality:   cpus of node %d to memory of each node:", from);
    for (int to = 0; to < node_count; ++to)
      used += snprintf(text + used, sizeof text - (size_t)used, " %" PRIu64, table[from][to]);
    snprintf(text + used, sizeof text - (size_t)used, "\n");
    qemu_plugin_outs(text);
  }
}

static void report(int label) {
  for (int range = 0; range < RANGES; ++range) report_range(label, range);
  lap++;
}

static void forget_counts(void) {
  for (int c = 0; c < cpu_count; ++c) {
    memset(cpus[c].loads, 0, sizeof cpus[c].loads);
    memset(cpus[c].stores, 0, sizeof cpus[c].stores);
    if (cpus[c].line_in_cache) memset(cpus[c].line_in_cache, 0xff, cache_lines * sizeof(uint64_t));
  }
}

static void declare_range(Cpu* cpu, int range) {
  if (cpu->mark_pc && cpu->first <= cpu->last && range < OTHER) {
    ranges[range].begin = cpu->first;
    ranges[range].end = cpu->last + 1;
    if (range >= range_count) range_count = range + 1;
  }
  cpu->mark_pc = 0;
}

/* The meaning of a mark is packed into the callback's pointer: where it is, operation, argument. */
static void* packed(uint64_t pc, uint8_t operation, uint8_t argument) {
  return (void*)(pc << 16 | (uint64_t)operation << 8 | argument);
}

static void on_mark(unsigned index, void* data) {
  uint64_t word = (uint64_t)data;
  int argument = word & 0xff;
  Cpu* cpu = &cpus[index];
  switch ((enum mark)(word >> 8 & 0xff)) {
    case MARK_START:
      forget_counts();
      __atomic_store_n(&active, 1, __ATOMIC_SEQ_CST);
      break;
    case MARK_STOP:
      __atomic_store_n(&active, 0, __ATOMIC_SEQ_CST);
      report(argument);
      break;
    case MARK_RANGE:
      cpu->mark_pc = word >> 16;
      cpu->first = UINT64_MAX;
      cpu->last = 0;
      break;
    case MARK_RANGE_END:
      declare_range(cpu, argument);
      break;
    case MARK_CLEAR:
      memset(ranges, 0, sizeof ranges);
      range_count = 0;
      break;
  }
}

static void translate(qemu_plugin_id_t id, struct qemu_plugin_tb* block) {
  (void)id;
  for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); ++i) {
    struct qemu_plugin_insn* insn = qemu_plugin_tb_get_insn(block, i);
    uint64_t pc = qemu_plugin_insn_vaddr(insn);
    if (pc >> 63) return; /* the kernel's code */
    uint8_t const* b = qemu_plugin_insn_data(insn);
    bool mark = qemu_plugin_insn_size(insn) == 7 && b[0] == 0x0f && b[1] == 0x1f && b[2] == 0x80 &&
                b[5] == 'G' && b[6] == 'N';
    if (mark)
      qemu_plugin_register_vcpu_insn_exec_cb(insn, on_mark, NO_REGISTERS, packed(pc, b[4], b[3]));
    else
      qemu_plugin_register_vcpu_mem_cb(insn, count, NO_REGISTERS, LOADS_AND_STORES, (void*)pc);
  }
}

static void finish(qemu_plugin_id_t id, void* unused) {
  (void)id, (void)unused;
  if (active) report(-1);
}

static bool set(char* argument) {
  char* value = strchr(argument, '=');
  if (!value) return false;
  *value++ = '\0';
  if (!strcmp(argument, "cpus")) return (cpus_per_node = atoi(value)) > 0;
  if (!strcmp(argument, "cache"))
    return (cache_lines = strtoull(value, NULL, 10) * 1024 >> LINE_SHIFT) > 0;
  if (!strcmp(argument, "all")) return active = !strcmp(value, "on"), true;
  if (strcmp(argument, "memory")) return false;
  /* QEMU's "physical address" of RAM is its block's offset among all blocks, plus its offset in the
   * machine's RAM, plus the offset in the block: a node's first byte counts twice. */
  uint64_t before = 0;
  for (char* s = strtok(value, ":"); s && node_count < MAX_NODES; s = strtok(NULL, ":")) {
    memory[node_count].begin = 2 * before;
    memory[node_count].bytes = strtoull(s, NULL, 10) << 20;
    before += memory[node_count++].bytes;
  }
  return node_count > 0;
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, qemu_info_t const* info, int argc,
                               char** argv) {
  cpu_count = info->system_emulation ? info->system.max_vcpus : 0;
  if (cpu_count < 1 || cpu_count > MAX_CPUS) return -1;
  for (int i = 0; i < argc; ++i)
    if (!set(argv[i])) {
      fprintf(stderr, "locality meter: bad argument '%s'\n", argv[i]);
      return -1;
    }
  for (int c = 0; cache_lines && c < cpu_count; ++c)
    if (!(cpus[c].line_in_cache = calloc(cache_lines, sizeof(uint64_t)))) return -1;
  forget_counts();
  qemu_plugin_register_vcpu_tb_trans_cb(id, translate);
  qemu_plugin_register_atexit_cb(id, finish, NULL);
  return 0;
}
