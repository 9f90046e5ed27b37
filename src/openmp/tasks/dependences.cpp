// SPDX-License-Identifier: Apache-2.0
// Which sibling tasks wait for which. Siblings are made one after another by the thread that runs
// their parent, so the table of addresses is that thread's alone; only the nodes are shared.
//
// For each address: the last *set* of tasks that may run together (one that writes, or all that
// only read, or an inoutset), and the set before it. A task that joins the last set waits for the
// one before; a task that begins a new set waits for the last one. mutexinoutset is taken as inout:
// in the order in which they were made, they exclude each other.
//
// (dependences.D) A task sees what those before it did: the one that ends counts down `before`
// (releases), and
//     whoever counts it to 0 (acquires) submits the task. A task that is made later finds `ended`
//     under the node's lock.
// A sleeper misses no end that it waits for by (sleeper.S).

#include <stdlib.h>

#include <new>

#include "openmp/tasks/near_data.hpp"
#include "openmp/tasks/team.hpp"
#include "platform/pause.hpp"

namespace nigh::openmp::tasks {

// A task that others may wait for, or a wait without a task.
struct DependNode {
  sync::atomic<std::int32_t> before{1};  // that have not ended; one more until all are known
  sync::atomic<std::int32_t> uses{1};
  Task* task = nullptr;
  Member* waiting = nullptr;  // of a node without a task
  sync::atomic<bool> lock{false};
  bool ended = false;
  std::uint32_t count = 0, room = 0;
  DependNode** after = nullptr;
};

namespace {

template <class T>
void add(T*& list, std::uint32_t& count, std::uint32_t& room, T value) noexcept {
  if (count == room) {
    room = room == 0 ? 4 : 2 * room;
    list = static_cast<T*>(realloc(list, room * sizeof(T)));
    if (list == nullptr) out_of_memory();
  }
  list[count++] = value;
}

class Locked {
 public:
  explicit Locked(DependNode& node) noexcept : node_(node) {
    while (node_.lock.exchange(true, sync::acquire)) sync::pause();  // (dependences.D)
  }
  ~Locked() { node_.lock.store(false, sync::release); }  // (dependences.D)
  Locked(Locked&&) = delete;
  Locked& operator=(Locked&&) = delete;

 private:
  DependNode& node_;
};

void let_go(DependNode* node) noexcept {
  if (node->uses.fetch_sub(1, sync::acq_rel) != 1) return;  // (dependences.D)
  free(node->after);
  free(node);
}

bool has_ended(DependNode& node) noexcept {
  Locked const here(node);
  return node.ended;
}

// `node` waits for `earlier`, unless that has ended.
void wait_for_node(DependNode* node, DependNode* earlier) noexcept {
  if (earlier == node) return;
  Locked const here(*earlier);
  if (earlier->ended) return;
  node->before.fetch_add(1, sync::relaxed);
  node->uses.fetch_add(1, sync::relaxed);
  add(earlier->after, earlier->count, earlier->room, node);
}

struct Set {
  DependNode** nodes = nullptr;
  std::uint32_t count = 0, room = 0;
  std::uint32_t swept_at = 64;

  void wait(DependNode* node) const noexcept {
    for (std::uint32_t i = 0; i < count; ++i) wait_for_node(node, nodes[i]);
  }
  void put(DependNode* node) noexcept {
    if (count != 0 && nodes[count - 1] == node) return;
    if (count == swept_at) sweep();
    node->uses.fetch_add(1, sync::relaxed);
    add(nodes, count, room, node);
  }
  void clear() noexcept {
    for (std::uint32_t i = 0; i < count; ++i) let_go(nodes[i]);
    count = 0;
  }
  void free_all() noexcept {
    clear();
    free(nodes);
  }
  // A million readers of one address, and nobody who writes: those that have ended are forgotten.
  void sweep() noexcept {
    std::uint32_t kept = 0;
    for (std::uint32_t i = 0; i < count; ++i) {
      if (has_ended(*nodes[i]))
        let_go(nodes[i]);
      else
        nodes[kept++] = nodes[i];
    }
    count = kept;
    swept_at = count < 32 ? 64 : 2 * count;
  }
};

struct Entry {
  std::uintptr_t address = 0;
  bool is_used = false;
  Access access = Access::out;
  Set last, before;
};

}  // namespace

struct DependMap {
  Entry* entries = nullptr;  // open addressing; a power of two of them
  std::uint32_t room = 0, used = 0;
  DependNode* all = nullptr;  // the last task that depends on all memory

  Entry& at(std::uintptr_t address) noexcept {
    if (4 * (used + 1) > 3 * room) grow();
    Entry& e = *find(address);
    if (!e.is_used) {
      e.is_used = true;
      e.address = address;
      ++used;
    }
    return e;
  }

 private:
  Entry* find(std::uintptr_t address) const noexcept {
    auto i = (address * 0x9e3779b97f4a7c15U) >> 40U;
    for (;; ++i) {
      Entry& e = entries[i & (room - 1)];
      if (!e.is_used || e.address == address) return &e;
    }
  }
  void grow() noexcept {
    Entry* const old = entries;
    auto const old_room = room;
    room = room == 0 ? 16 : 2 * room;
    entries = static_cast<Entry*>(malloc(room * sizeof(Entry)));
    if (entries == nullptr) out_of_memory();
    for (std::uint32_t i = 0; i < room; ++i) new (entries + i) Entry;
    for (std::uint32_t i = 0; i < old_room; ++i)
      if (old[i].is_used) *find(old[i].address) = old[i];
    free(old);
  }
};

namespace {

void clear(DependMap& map) noexcept {
  for (std::uint32_t i = 0; i < map.room; ++i) {
    Entry& e = map.entries[i];
    if (!e.is_used) continue;
    e.last.free_all();
    e.before.free_all();
    e = Entry{};
  }
  map.used = 0;
}

void depend_on_all(DependMap& map, DependNode* node, bool is_task) noexcept {
  for (std::uint32_t i = 0; i < map.room; ++i) {
    map.entries[i].last.wait(node);
    map.entries[i].before.wait(node);
  }
  if (map.all != nullptr) wait_for_node(node, map.all);
  if (!is_task) return;
  clear(map);
  if (map.all != nullptr) let_go(map.all);
  node->uses.fetch_add(1, sync::relaxed);
  map.all = node;
}

void depend_on(DependMap& map, DependNode* node, Depend d, bool is_task) noexcept {
  Entry& e = map.at(d.address);
  bool const joins = d.access != Access::out && d.access == e.access && e.last.count != 0;
  if (!is_task) {
    (joins ? e.before : e.last).wait(node);
    return;
  }
  if (!joins) {
    Set const emptied = e.before;
    e.before = e.last;
    e.last = emptied;
    e.last.clear();
    e.access = d.access;
  }
  e.before.wait(node);
  e.last.put(node);
}

DependNode* new_node(Member& me, Task* task, Depend const* list, std::size_t count) noexcept {
  auto* const room = malloc(sizeof(DependNode));
  if (room == nullptr) out_of_memory();
  auto* const node = new (room) DependNode;
  node->task = task;
  node->waiting = &me;
  Extra* const parent = extra_of(me, *me.current);
  if (parent->children == nullptr) {
    auto* const map = malloc(sizeof(DependMap));
    if (map == nullptr) out_of_memory();
    parent->children = new (map) DependMap;
  }
  DependMap& map = *parent->children;
  bool const is_task = task != nullptr;
  bool depends_on_all = false;
  for (std::size_t i = 0; i < count; ++i)
    if (list[i].address == 0 && list[i].access == Access::out) depends_on_all = true;
  if (depends_on_all) {
    depend_on_all(map, node, is_task);
    return node;
  }
  if (map.all != nullptr) wait_for_node(node, map.all);
  for (std::size_t i = 0; i < count; ++i) depend_on(map, node, list[i], is_task);
  return node;
}

}  // namespace

void submit_after(Member& me, Task& t, Depend const* list, std::size_t count) noexcept {
  Extra* const extra = extra_of(me, t);
  DependNode* const node = new_node(me, &t, list, count);
  extra->node = node;
  if (extra->near == nullptr && count > 0 && hints_by_depend())
    extra->near = reinterpret_cast<void const*>(list[0].address);
  if (node->before.fetch_sub(1, sync::acq_rel) == 1) submit_somewhere(me, t);  // (dependences.D)
}

void wait_for(Member& me, Depend const* list, std::size_t count) noexcept {
  if (!me.current->is(flag::extra) || me.current->extra->children == nullptr) return;
  DependNode* const node = new_node(me, nullptr, list, count);
  wait_until(
      me,
      [](void* n) noexcept {
        return static_cast<DependNode*>(n)->before.load(sync::seq_cst) ==
               1;  // (dependences.D) (sleeper.S)
      },
      node);
  let_go(node);
}

void release_dependents(Member* me, Extra& extra) noexcept {
  DependNode* const node = extra.node;
  if (node == nullptr) return;
  extra.node = nullptr;
  DependNode** after = nullptr;
  std::uint32_t count = 0;
  {
    Locked const here(*node);
    node->ended = true;
    after = node->after;
    count = node->count;
    node->after = nullptr;
    node->count = node->room = 0;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    DependNode* const next = after[i];
    Task* const t = next->task;
    Member* const waiting = next->waiting;
    auto const left = next->before.fetch_sub(1, sync::seq_cst) - 1;  // (dependences.D) (sleeper.S)
    if (t == nullptr) {
      waiting->sleeper.wake();
    } else if (left == 0) {
      if (me != nullptr && me->team == extra.team)
        submit_somewhere(*me, *t);
      else
        inject(*extra.team, *t);
    }
    let_go(next);
  }
  free(after);
  let_go(node);
}

void drop(DependMap* map) noexcept {
  if (map == nullptr) return;
  clear(*map);
  if (map->all != nullptr) let_go(map->all);
  free(map->entries);
  free(map);
}

}  // namespace nigh::openmp::tasks
