// SPDX-License-Identifier: Apache-2.0
// Which sibling tasks wait for which. Siblings are made one after another by the thread that runs
// their parent, so the table of addresses is that thread's alone; only the nodes are shared.
//
// For each address: the last *set* of tasks that may run together (one that writes, or all that
// only read, or an inoutset, or a mutexinoutset), and the set before it. A task that joins the last
// set waits for the one before; a task that begins a new set waits for the last one.
//
// The tasks of a mutexinoutset exclude each other, in any order: one that waits for no other task
// takes all its addresses at once, or is put off until one that has them ends. libgomp takes
// mutexinoutset as inout, and so do we for programs of gcc.

#include <stdlib.h>

#include <algorithm>
#include <new>

#include "openmp/tasks/depend_node.hpp"
#include "openmp/tasks/near_data.hpp"
#include "openmp/tasks/team.hpp"

namespace nigh::openmp::tasks {

namespace {

void give_back(DependNode* node) noexcept {
  node->mutexes().free_memory();
  Kept<DependNode>::give_back(node);
}

void wait_for_node(DependNode* node, NodeOfTask earlier) noexcept {
  if (!node->wait_for(earlier)) out_of_memory();
}

// By address, with room for a power of two of them (open addressing). A program may name fresh
// addresses without end: when it is full, those that forget() says are of no use any more go. It
// doubles only if fewer than half could, so that each look at all of them pays for itself.
template <class Entry>
class AddressTable {
 public:
  // Made when it is not there. It may move when another one is made.
  Entry& at(std::uintptr_t address) noexcept {
    if (4 * (used_ + 1) > 3 * room_) grow();
    Entry& e = *find(address);
    if (!e.is_used) {
      e.is_used = true;
      e.address = address;
      ++used_;
    }
    return e;
  }
  // Null: it is not there.
  Entry* seek(std::uintptr_t address) const noexcept {
    Entry* const e = room_ == 0 ? nullptr : find(address);
    return e != nullptr && e->is_used ? e : nullptr;
  }
  template <class See>
  void for_each(See see) noexcept {
    for (std::uint32_t i = 0; i < room_; ++i)
      if (entries_[i].is_used) see(entries_[i]);
  }
  // After all that they hold has been freed.
  void clear() noexcept {
    for_each([](Entry& e) { e = Entry{}; });
    used_ = 0;
  }
  void free_all() noexcept { free(entries_); }

 private:
  Entry* find(std::uintptr_t address) const noexcept {
    auto i = (address * 0x9e3779b97f4a7c15U) >> 40U;
    for (;; ++i) {
      Entry& e = entries_[i & (room_ - 1)];
      if (!e.is_used || e.address == address) return &e;
    }
  }
  void grow() noexcept {
    Entry* const old = entries_;
    auto const old_room = room_;
    used_ = 0;
    for (std::uint32_t i = 0; i < old_room; ++i) {
      if (old[i].is_used && old[i].forget()) old[i].is_used = false;
      if (old[i].is_used) ++used_;
    }
    if (2 * used_ >= room_) room_ = room_ == 0 ? 16 : 2 * room_;
    entries_ = static_cast<Entry*>(malloc(room_ * sizeof(Entry)));
    if (entries_ == nullptr) out_of_memory();
    for (std::uint32_t i = 0; i < room_; ++i) new (entries_ + i) Entry;
    for (std::uint32_t i = 0; i < old_room; ++i)
      if (old[i].is_used) *find(old[i].address) = old[i];
    free(old);
  }

  Entry* entries_ = nullptr;
  std::uint32_t room_ = 0, used_ = 0;
};

struct Set {
  Items<NodeOfTask> nodes;
  std::uint32_t swept_at = 64;

  bool is_empty() const noexcept { return nodes.count() == 0; }
  bool has_ended() const noexcept {
    return std::all_of(nodes.begin(), nodes.end(), DependNode::has_ended);
  }
  void wait(DependNode* node) const noexcept {
    for (NodeOfTask const earlier : nodes) wait_for_node(node, earlier);
  }
  void put(DependNode* node) noexcept {
    if (!is_empty() && nodes.end()[-1] == node->now()) return;
    if (nodes.count() == swept_at) sweep();
    if (!nodes.add(node->now())) out_of_memory();
  }
  // A million readers of one address, and nobody who writes: those that have ended are forgotten.
  void sweep() noexcept {
    auto const* const ended = std::remove_if(nodes.begin(), nodes.end(), DependNode::has_ended);
    auto const kept = static_cast<std::uint32_t>(ended - nodes.begin());
    nodes.keep(kept);
    swept_at = kept < 32 ? 64 : 2 * kept;
  }
};

struct Entry {
  std::uintptr_t address = 0;
  bool is_used = false;
  Access access = Access::out;
  Set last, before;

  bool joins(Access other) const noexcept {
    return other != Access::out && other == access && !last.is_empty();
  }
  // Those that one with this access waits for, which is not in the table.
  Set const& earlier(Access of) const noexcept {
    return joins(of) && of != Access::mutex ? before : last;
  }
  // True: all its tasks have ended. Those of `last` waited for `before`.
  bool forget() noexcept {
    last.sweep();
    before.sweep();
    if (!last.is_empty()) return false;
    last.nodes.free_memory();
    before.nodes.free_memory();
    return true;
  }
};

}  // namespace

// Which addresses of mutexinoutset the siblings that may run have. Any thread may end one of them.
// A task that is put off waits at one address that another one has; it comes to the next one that
// is not free when it gets its turn there.
class Mutexes {
 public:
  // False: put off.
  bool take(DependNode& node) noexcept {
    if (node.mutexes().count() == 0) return true;
    Locked const here(lock_);
    return take_all(node);
  }
  // The node's task has ended. Those that were put off and may run now; the caller frees the list.
  Items<DependNode*> give_back(DependNode const& node) noexcept {
    Items<DependNode*> next;
    auto const& given = node.mutexes();
    if (given.count() == 0) return next;
    Locked const here(lock_);
    for (auto const address : given) places_.at(address).is_taken = false;
    for (auto const address : given)
      while (DependNode* const other = places_.at(address).next_waiting())
        if (take_all(*other) && !next.add(other)) out_of_memory();
    return next;
  }
  void free_all() noexcept { places_.free_all(); }

 private:
  struct Place {
    std::uintptr_t address = 0;
    bool is_used = false, is_taken = false;
    DependNode *oldest = nullptr, *newest = nullptr;  // that wait here

    void put(DependNode& node) noexcept {
      node.next_put_off = nullptr;
      (oldest == nullptr ? oldest : newest->next_put_off) = &node;
      newest = &node;
    }
    // Null also when it is taken.
    DependNode* next_waiting() noexcept {
      DependNode* const first = is_taken ? nullptr : oldest;
      if (first != nullptr) oldest = first->next_put_off;
      return first;
    }
    bool forget() const noexcept { return !is_taken && oldest == nullptr; }
  };

  bool take_all(DependNode& node) noexcept {
    auto const& wanted = node.mutexes();
    for (auto const address : wanted)
      if (Place& p = places_.at(address); p.is_taken) {
        p.put(node);
        return false;
      }
    for (auto const address : wanted) places_.at(address).is_taken = true;
    return true;
  }

  YieldingLock lock_;
  AddressTable<Place> places_;
};

struct DependMap {
  AddressTable<Entry> entries;
  NodeOfTask all;  // of the last task that depends on all memory; null: there was none
  Mutexes mutexes;
};

namespace {

void clear(DependMap& map) noexcept {
  map.entries.for_each([](Entry& e) {
    e.last.nodes.free_memory();
    e.before.nodes.free_memory();
  });
  map.entries.clear();
}

void depend_on_all(DependMap& map, DependNode* node, bool is_task) noexcept {
  map.entries.for_each([node](Entry const& e) {
    e.last.wait(node);
    e.before.wait(node);
  });
  if (map.all.node != nullptr) wait_for_node(node, map.all);
  if (!is_task) return;
  clear(map);
  map.all = node->now();
}

void depend_on(DependMap& map, DependNode* node, Depend d, bool is_task) noexcept {
  Entry& e = map.entries.at(d.address);
  if (!is_task) return e.earlier(d.access).wait(node);
  if (d.access == Access::mutex && !node->mutexes().add(d.address)) out_of_memory();
  if (!e.joins(d.access)) {
    Set const emptied = e.before;
    e.before = e.last;
    e.last = emptied;
    e.last.nodes.keep(0);
    e.access = d.access;
  }
  e.before.wait(node);
  e.last.put(node);
}

Mutexes& mutexes_among_siblings_of(Task const& t) noexcept {
  return t.parent.load(sync::relaxed)->extra->children->mutexes;
}

bool is_all(Depend const& d) noexcept { return d.address == 0 && d.access == Access::out; }

// For a task that is not in the table.
bool has_to_wait(DependMap const& map, Depend const* list, std::size_t count) noexcept {
  if (map.all.node != nullptr && !DependNode::has_ended(map.all)) return true;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_all(list[i])) return true;
    Entry const* const e = map.entries.seek(list[i].address);
    if (e != nullptr && !e->earlier(list[i].access).has_ended()) return true;
  }
  return false;
}

DependNode* new_node(Member& me, Task* task, Depend const* list, std::size_t count) noexcept {
  DependNode* const node = me.nodes.take();
  if (node == nullptr) out_of_memory();
  node->begin(task, &me);
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
    if (is_all(list[i])) depends_on_all = true;
  if (depends_on_all) {
    depend_on_all(map, node, is_task);
    return node;
  }
  if (map.all.node != nullptr) wait_for_node(node, map.all);
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
  if (node->is_ready() && mutexes_among_siblings_of(t).take(*node)) submit_somewhere(me, t);
}

void wait_for(Member& me, Depend const* list, std::size_t count) noexcept {
  if (!has_dependences(*me.current)) return;
  if (!has_to_wait(*me.current->extra->children, list, count)) return;
  DependNode* const node = new_node(me, nullptr, list, count);
  wait_until(me, [](void* n) noexcept { return static_cast<DependNode*>(n)->is_over(); }, node);
  give_back(node);
}

// It waits for nothing else.
static void submit_late(Member* me, Team& team, Task& t, After after) noexcept {
  bool const is_member = me != nullptr && me->team == &team;
  if (is_member && after == After::body)
    submit_somewhere(*me, t);
  else if (!is_member || t.extra->near == nullptr || !submit_near(*me, t))
    inject(team, t);
}

void release_dependents(Member* me, Task& ended, After after) noexcept {
  Extra& extra = *ended.extra;
  DependNode* const node = extra.node;
  if (node == nullptr) return;
  extra.node = nullptr;
  Mutexes& mutexes = mutexes_among_siblings_of(ended);
  Items<DependNode*> dependents = node->end();
  Items<DependNode*> put_off = mutexes.give_back(*node);
  for (DependNode* const next : dependents) {
    Task* const t = next->task();
    Member* const waiting = next->waiting();
    bool const is_ready = next->one_has_ended();
    if (t == nullptr)
      waiting->sleeper.wake();
    else if (is_ready && mutexes.take(*next))
      submit_late(me, *extra.team, *t, after);
  }
  for (DependNode* const other : put_off) submit_late(me, *extra.team, *other->task(), after);
  dependents.free_memory();
  put_off.free_memory();
  give_back(node);
}

void drop(DependMap* map) noexcept {
  if (map == nullptr) return;
  clear(*map);
  map->mutexes.free_all();
  map->entries.free_all();
  free(map);
}

}  // namespace nigh::openmp::tasks
