#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
# tidy: long, because each construct is a method of one class, whose state they all write to
"""Writes a C program of random OpenMP task graphs, one for each seed: generate.py FIRST COUNT > graphs.c

A graph is a few parallel regions; in each, tasks are nested, grouped, ordered by dependences, looped, reduced
and detached in ways that the seed chooses. The program prints each seed, or those on its command line, and the
checksum of its graph; graph.h says why no legal schedule changes it."""
import random
import re
import sys

OPERATORS = {"+": ("0", "{x} += {v}"), "^": ("0", "{x} ^= {v}"), "*": ("1", "{x} *= ({v}) | 1"),
             "|": ("0", "{x} |= {v}"), "&": ("~(Word)0", "{x} &= {v}"),
             "max": ("0", "if ({x} < ({v})) {x} = {v}"), "min": ("~(Word)0", "if ({x} > ({v})) {x} = {v}")}


class Task:
    """What is known, while it is written, of the task in whose body a statement stands."""

    def __init__(self, level, final=0, tied=True):
        self.level = level          # of nesting; numbers its variables
        self.final = final          # 1: it is final, 0: it is not, -1: libomp does not say before its first region
        self.tied = tied
        self.results = 0            # children that write a result
        self.pending = []           # what may be read after the next wait for all children
        self.group = None           # names to declare before the group that is being written
        self.folds = 0


class Graph:
    def __init__(self, seed):
        self.seed = seed
        self.random = random.Random(seed)
        self.lines = []
        self.functions = []
        self.depth = 1
        self.identity = seed << 20
        self.names = 0
        self.budget = self.random.choice((12, 25, 45))
        self.constrained = self.random.random() < 0.6  # no untied task, so the scheduling constraint is checked
        self.regions = 0
        self.outside = False  # of any region: there libgomp 12 frees reductions that it has not allocated

    # -- writing ----------------------------------------------------------------------------------------------

    def put(self, text):
        indent = "" if text.startswith("#") else "  " * self.depth
        self.lines.append(indent + text)

    def open(self, text="{"):
        self.put(text)
        self.depth += 1

    def close(self):
        self.depth -= 1
        self.put("}")

    def chance(self, p):
        return self.random.random() < p

    def new_id(self):
        self.identity += 1
        return f"{self.identity}u"

    def name(self, what):
        self.names += 1
        return f"{what}{self.names}"

    # -- tasks ------------------------------------------------------------------------------------------------

    def clauses(self, task, tied=True, may_end_at_once=True):
        """Clauses that change where and when a task runs, not what it computes; and whether it is then final."""
        some = []
        final = task.final
        if self.chance(0.15):
            some.append("mergeable")
        if self.chance(0.2):
            some.append(f"priority({self.random.randrange(6)})")
        # libomp 19 asserts where an untied task that is not deferred waits for children.
        if not tied:
            some.append("untied")
        elif may_end_at_once and self.chance(0.1):
            some.append(self.random.choice(("if(0)", "if(task: 0)", "if(1)")))
        if may_end_at_once and self.chance(0.1):
            if self.chance(0.7):
                some.append("final(1)")
                final = final or 1
            else:
                some.append("final(0)")
        return " ".join(some), final

    def body(self, task, child, result=None, before=(), after=()):
        """The block of a task: it enters, computes, may have children of its own, and leaves its result."""
        n, up = child.level, task.level
        identity = self.new_id()
        start = len(self.lines)
        self.open()
        self.put(f"struct scope const* const me{n} = enter(me{up}, {int(child.tied)}, {int(self.constrained)}, {child.final});")
        self.put(f"Word acc{n} = {identity};")
        self.put(f"Word* const sum{n} = sum{up};")
        if self.chance(0.6):
            self.put(f"burn({self.random.choice((5, 50, 500, 3000))});")
        for line in before:
            self.put(line.replace("@acc", f"acc{n}"))
        if child.tied and self.budget > 0 and n < 6 and self.chance(0.45):
            self.sequence(child, self.random.randrange(1, 4))
        for line in after:
            self.put(line.replace("@acc", f"acc{n}"))
        self.put(f"leave(me{n});")
        self.put(f"add(sum{n}, acc{n});")
        if result is not None:
            self.put(f"r{up}[{result}] = acc{n};")
        self.close()
        if not child.tied:
            self.move_into_function(start)

    def move_into_function(self, start):
        """The lines from there on, in a function of their own: an untied task with variables of its own is what clang 19
        compiles into a program that frees them twice."""
        lines, self.lines = self.lines[start:], self.lines[:start]
        text = "\n".join(lines)
        types = {"me": "struct scope const*", "i": "int"}
        own = set(re.findall(r"(?:Word|Word\* const|struct scope const\* const|Word const) (\w+) =", text))
        names = sorted(set(re.findall(r"\b(?:me|sum|r|c|t|cell)\d+\b|\bi\b", text)) - own)
        function = self.name(f"untied{self.seed}_")
        parameters = ", ".join(f"{types.get(name.rstrip('0123456789'), 'Word*')} {name}" for name in names)
        shift = len(lines[0]) - len(lines[0].lstrip())
        self.functions += [f"static void {function}({parameters}) {{"] + [line[shift:] for line in lines[1:]] + [""]
        self.put(f"{function}({', '.join(names)});")

    def tied(self):
        return self.constrained or self.chance(0.75)

    def child(self, task):
        tied = self.tied()
        text, final = self.clauses(task, tied)
        result = task.results
        task.results += 1
        if tied and self.chance(0.15):  # a large argument, which the runtime copies
            big = self.name("big")
            words = self.random.choice((3, 40, 600))
            self.put(f"struct {{ Word word[{words}]; }} {big};")
            self.put(f"for (int n = 0; n < {words}; ++n) {big}.word[n] = mix(acc{task.level}, n);")
            text += f" firstprivate({big})"
            before = [f"for (int n = 0; n < {words}; ++n) @acc = mix(@acc, {big}.word[n]);"]
            self.put(f"#pragma omp task {text}")
            self.body(task, Task(task.level + 1, final, tied), result, before)
            self.put(f"{big}.word[0] = 0;")
        else:
            self.put(f"#pragma omp task {text}")
            self.body(task, Task(task.level + 1, final, tied), result)

    def untied_in_parts(self, task):
        """An untied task that waits for children, more than once. It has no variables of its own: clang 19 frees
        those twice."""
        n = task.level
        t = self.name("t")
        self.array(task, t, 5)
        self.put(f"#pragma omp task untied firstprivate({t})")
        self.open()
        for part in range(2):
            for k in (0, 1):
                self.put(f"#pragma omp task firstprivate({t})" + (" untied" if self.chance(0.3) else ""))
                self.put(f"{{ burn(200); {t}[{2 * part + k}] = mix({t}[{4 if part else 2}], {self.new_id()}); }}")
            self.put("#pragma omp taskwait")
            self.put(f"{t}[4] = mix({t}[{2 * part}], {t}[{2 * part + 1}]);")
            if self.chance(0.3):
                self.put("#pragma omp taskyield")
        self.put(f"add(sum{n}, {t}[4]);")
        self.close()
        self.fold_later(task, t, 5)

    def children_in_a_loop(self, task):
        count = self.random.choice((3, 10, 40, 150))
        t = self.name("t")
        tied = self.tied()
        text, final = self.clauses(task, tied)
        if tied and self.chance(0.2) and "if(" not in text:
            text += " if(i % 3)"
        self.array(task, t, count)
        self.open(f"for (int i = 0; i < {count}; ++i) {{")
        self.put(f"#pragma omp task firstprivate(i) {text}")
        later = max(0, self.budget - (2 if count < 40 else 0))
        self.budget -= later
        self.body(task, Task(task.level + 1, final, tied), None,
                  ["@acc = mix(@acc, i);"], [f"{t}[i] = @acc;"])
        self.budget += later
        self.close()
        self.fold_later(task, t, count)

    def array(self, task, name, count):
        """Words that can be read behind the group in which the task gets them."""
        if task.group is None:
            self.put(f"Word* const {name} = words({count});")
        else:
            task.group.append(name)
            self.put(f"{name} = words({count});")

    def fold_later(self, task, array, count):
        task.pending.append(f"for (int n = 0; n < {count}; ++n) acc{task.level} = mix(acc{task.level}, {array}[n]);")

    def after_wait(self, task):
        """Every child has completed: what they wrote is read in the order in which they stand here."""
        n = task.level
        self.put(f"stay(me{n});")
        if task.folds < task.results:
            self.put(f"for (int n = {task.folds}; n < {task.results}; ++n) acc{n} = mix(acc{n}, r{n}[n]);")
            task.folds = task.results
        for line in task.pending:
            self.put(line)
        task.pending = []

    def wait(self, task):
        self.put("#pragma omp taskwait")
        self.after_wait(task)

    def group(self, task):
        """A task group: everything below it has completed at its end, so its sum is known."""
        g = self.name("g")
        n = task.level
        self.put(f"Word* const {g} = words(1);")
        place, outer_group, task.group = len(self.lines), task.group, []
        self.put("#pragma omp taskgroup")
        self.open()
        self.put(f"Word* const sum{n} = {g};")
        self.sequence(task, self.random.randrange(1, 4), own_results=False)
        self.close()
        declared, task.group = task.group, outer_group
        if outer_group is None:
            self.lines[place:place] = ["  " * self.depth + f"Word* {name} = NULL;" for name in declared]
        else:
            outer_group += declared
        self.put(f"stay(me{n});")
        self.put(f"acc{n} = mix(acc{n}, *{g});")
        self.put(f"add(sum{n}, *{g});")

    # -- dependences ------------------------------------------------------------------------------------------

    def dependences(self, task):
        n = task.level
        cells, count = self.name("c"), self.random.randrange(1, 5)
        self.array(task, cells, count)
        objects = []
        for _ in range(self.random.randrange(3, 12)):
            if self.chance(0.08):
                self.put(f"#pragma omp taskwait depend({self.random.choice(('in', 'inout'))}: {cells}[{self.random.randrange(count)}])")
                self.put(f"stay(me{n});")
                continue
            if self.chance(0.06):
                self.all_cells(task, cells, count)
                continue
            self.dependent(task, cells, count, objects)
        last = self.random.randrange(count)
        if self.chance(0.3):
            self.put(f"#pragma omp taskwait depend(in: {cells}[{last}])")
            self.put(f"acc{n} = mix(acc{n}, {cells}[{last}]);")
        if objects:
            # An object that a task names must be there when the task is created, and no longer.
            for name in objects:
                self.put(f"#pragma omp depobj({name}) destroy")
        self.fold_later(task, cells, count)

    def all_cells(self, task, cells, count):
        result = task.results
        task.results += 1
        self.put(f"#pragma omp task depend(OUT_ALL({cells}, {count}))")
        self.body(task, Task(task.level + 1, task.final), result,
                  [f"for (int n = 0; n < {count}; ++n) @acc = mix(@acc, {cells}[n]);"],
                  [f"for (int n = 0; n < {count}; ++n) {cells}[n] = mix(@acc, n);"])

    def dependent(self, task, cells, count, objects):
        tied = self.tied()
        text, final = self.clauses(task, tied)
        before, after = [], []
        result = task.results
        task.results += 1
        chosen = self.random.sample(range(count), min(count, self.random.choice((1, 1, 2, 3))))
        free = list(objects)  # those that this task does not name yet
        for cell in chosen:
            kind = self.random.choice(("in", "in", "out", "inout", "inout", "mutexinoutset", "INOUTSET"))
            where = f"{cells}[{cell}]"
            if kind in ("in", "out", "inout", "mutexinoutset") and self.chance(0.15):
                if free and self.chance(0.3):
                    name = free.pop()
                    self.put(f"#pragma omp depobj({name}) destroy")
                else:
                    name = self.name("object")
                    self.put(f"omp_depend_t {name};")
                    objects.append(name)
                if self.chance(0.3):
                    other = self.random.choice(("in", "inout"))
                    self.put(f"#pragma omp depobj({name}) depend({other}: {where})")
                    self.put(f"#pragma omp depobj({name}) update({kind})")
                else:
                    self.put(f"#pragma omp depobj({name}) depend({kind}: {where})")
                text += f" depend(depobj: {name})"
            elif kind in ("in", "inout") and self.chance(0.1):
                text += f" depend(iterator(k = {cell} : {cell + 1}), {kind}: {cells}[k])"
            else:
                text += f" depend({kind}: {where})"
            if kind == "in":
                before.append(f"@acc = mix(@acc, {where});")
            elif kind == "out":
                after.append(f"{where} = mix(@acc, {self.new_id()});")
            elif kind == "inout":
                value = self.name("value")
                before.append(f"Word const {value} = {where};")
                after.append(f"{where} = mix(@acc, {value});")
            elif kind == "mutexinoutset":  # not atomic: a second one meanwhile would lose an update
                value = self.name("value")
                after.append(f"Word const {value} = {where};")
                after.append("burn(100);")
                after.append(f"{where} = {value} + {self.new_id()} * 7919u;")
            else:
                after.append(f"add(&{where}, {self.new_id()} * 104729u);")
        if self.chance(0.1):
            text += f" affinity({cells}[0:{count}])"
        self.put(f"#pragma omp task {text}")
        self.body(task, Task(task.level + 1, final, tied), result, before, after)

    # -- loops, reductions ------------------------------------------------------------------------------------

    def task_loop(self, task):
        n = task.level
        tied = self.tied()
        text = self.clauses(task, tied)[0].replace("task: 0", "taskloop: 0")
        how = self.random.random()
        size = self.random.randrange(1, 20)
        if how < 0.3:
            text += f" grainsize({size})"
        elif how < 0.4:
            text += f" grainsize(strict: {size})"
        elif how < 0.7:
            text += f" num_tasks({size})"
        elif how < 0.8:
            text += f" num_tasks(strict: {size})"
        identity = self.new_id()
        waits_later = self.chance(0.25)
        if waits_later:
            text += " nogroup"
        t = self.name("t")
        kind = self.random.choice(("up", "down", "unsigned", "collapse", "large"))
        count = self.random.choice((0, 1, 7, 60, 300)) if kind != "collapse" else 0
        if kind == "collapse":
            rows, columns = self.random.randrange(1, 9), self.random.randrange(1, 9)
            count = rows * columns
            text += " collapse(2)"
            head = [f"for (int i = 0; i < {rows}; ++i)", f"  for (int j = 0; j < {columns}; ++j)"]
            index = f"i * {columns} + j"
        elif kind == "up":
            step = self.random.randrange(1, 4)
            head = [f"for (int i = 5; i < {5 + step * count}; i += {step})"]
            index = f"(i - 5) / {step}"
        elif kind == "down":
            head = [f"for (long i = {count}; i > 0; --i)"]
            index = "i - 1"
        elif kind == "unsigned":
            end = self.name("end")
            self.put(f"unsigned long long const {end} = {2 * count};")
            head = [f"for (unsigned long long i = 0; i < {end}; i += 2)"]
            index = "i / 2"
        else:  # values beyond any signed number
            end = self.name("end")
            self.put(f"unsigned long long const {end} = 0x8000000000000000ull + {count};")
            head = [f"for (unsigned long long i = 0x8000000000000000ull; i < {end}; ++i)"]
            index = "i - 0x8000000000000000ull"
        self.array(task, t, count + 1)
        extra = self.random.random()
        x = self.name("x")
        index = f"(Word)({index})"  # no variable, for the loop may be untied
        loop_body = [f"{t}[{index}] = mix({identity}, {index});", f"add(sum{n}, {t}[{index}]);"]
        after = []
        if not waits_later and extra < 0.3 and not self.outside:
            operator = self.random.choice(sorted(OPERATORS))
            start, step = OPERATORS[operator]
            self.put(f"Word {x} = {start};")
            text += f" reduction({operator}: {x})"
            loop_body.append(step.format(x=x, v=f"mix({identity}, {index} + 1)") + ";")
            after.append(f"acc{n} = mix(acc{n}, {x});")
        elif not waits_later and extra < 0.45 and kind != "collapse" and count:
            self.put(f"Word {x} = 0;")
            text += f" lastprivate({x})"
            loop_body.append(f"{x} = mix({index}, {identity});")
            after.append(f"acc{n} = mix(acc{n}, {x});")
        self.put(f"#pragma omp taskloop {text}")
        for line in head[:-1]:
            self.put(line)
        self.open(head[-1] + " {")
        for line in loop_body:
            self.put(line)
        if tied and self.budget > 0 and self.chance(0.2) and count <= 60:
            self.budget -= 1
            self.put("#pragma omp task")
            self.put(f"{{ burn(50); add(sum{n}, mix({index}, {self.new_id()})); }}")
        self.close()
        for line in after:
            self.put(line)
        self.fold_later(task, t, count)
        if not waits_later:  # the loop's own group has ended; other children may go on
            self.put(task.pending.pop())

    def reduction(self, task):
        """Tasks that add to one variable in a task group."""
        n = task.level
        operator = self.random.choice(sorted(OPERATORS))
        start, step = OPERATORS[operator]
        x = self.name("x")
        self.put(f"Word {x} = {start};")
        self.put(f"#pragma omp taskgroup task_reduction({operator}: {x})")
        self.open()
        self.participants(task, operator, step, x)
        self.close()
        self.put(f"stay(me{n});")
        self.put(f"acc{n} = mix(acc{n}, {x});")

    def participants(self, task, operator, step, x):
        for _ in range(self.random.randrange(1, 5)):
            tied = self.tied()
            if self.chance(0.3):
                count = self.random.choice((5, 30))
                text = self.clauses(task, tied)[0].replace("task: 0", "taskloop: 0")
                self.put(f"#pragma omp taskloop in_reduction({operator}: {x}) {text}")
                self.open(f"for (int i = 0; i < {count}; ++i) {{")
                self.put(step.format(x=x, v=f"mix({self.new_id()}, i)") + ";")
                self.close()
                continue
            text, final = self.clauses(task, tied)
            self.put(f"#pragma omp task in_reduction({operator}: {x}) {text}")
            child = Task(task.level + 1, final, tied)
            self.open()
            if tied:
                self.put(f"struct scope const* const me{child.level} = enter(me{task.level}, 1, {int(self.constrained)}, {final});")
            self.put(f"burn({self.random.choice((5, 500))});")
            self.put(step.format(x=x, v=f"mix({self.new_id()}, 1)") + ";")
            if tied and self.chance(0.3):
                self.put(f"#pragma omp task in_reduction({operator}: {x})")
                self.put("{ " + step.format(x=x, v=f"mix({self.new_id()}, 2)") + "; }")
            if tied:
                self.put(f"leave(me{child.level});")
            self.close()

    # -- everything else that a task may do -------------------------------------------------------------------

    def recursion(self, task):
        n = task.level
        depth = self.random.randrange(4, 11)
        identity = self.new_id()
        kinds = ["waits", "groups", "final", "depends"] + ([] if self.constrained else ["untied"])
        kind = self.random.choice(kinds)
        if kind == "untied":
            self.put(f"acc{n} = mix(acc{n}, untied_inside({depth}, {identity}, sum{n}));")
        else:
            self.put(f"acc{n} = mix(acc{n}, {kind}_inside({depth}, {identity}, me{n}, sum{n}, {int(self.constrained)}, {task.final}));")
        self.after_wait(task) if kind in ("waits", "depends") else None

    def yields(self, task):
        self.put("#pragma omp taskyield")
        self.put(f"stay(me{task.level});")

    def exclusive(self, task):
        """Siblings in a critical section: an update that is not atomic."""
        cell = self.name("cell")
        self.array(task, cell, 1)
        count = self.random.choice((4, 20))
        self.open(f"for (int i = 0; i < {count}; ++i) {{")
        self.put("#pragma omp task firstprivate(i)")
        self.open()
        self.put(f"#pragma omp critical({self.random.choice('pq')})")
        self.open()
        self.put(f"Word const old = *{cell};")
        self.put("burn(20);")
        self.put(f"*{cell} = old + mix({self.new_id()}, i);")
        self.close()
        self.close()
        self.close()
        self.fold_later(task, cell, 1)

    def locked(self, task):
        """Siblings that hold one lock while they wait for their own children. The scheduling constraint makes that
        safe: the thread that waits begins no sibling."""
        n = task.level
        lock, cell = self.name("lock"), self.name("cell")
        self.array(task, cell, 1)
        self.put(f"omp_lock_t* const {lock} = (omp_lock_t*)words(8);")
        self.put(f"omp_init_lock({lock});")
        self.open("for (int i = 0; i < 4; ++i) {")
        self.put("#pragma omp task firstprivate(i)")
        self.open()
        self.put(f"struct scope const* const me{n + 1} = enter(me{n}, 1, {int(self.constrained)}, {task.final});")
        self.put(f"omp_set_lock({lock});")
        self.put(f"Word const old = *{cell};")
        self.open("for (int j = 0; j < 3; ++j) {")
        self.put("#pragma omp task firstprivate(j)")
        self.put(f"{{ burn(100); add(sum{n}, mix({self.new_id()}, j)); }}")
        self.close()
        self.put("#pragma omp taskwait")
        self.put(f"*{cell} = old + mix({self.new_id()}, i);")
        self.put(f"omp_unset_lock({lock});")
        self.put(f"leave(me{n + 1});")
        self.close()
        self.close()
        self.fold_later(task, cell, 1)

    def number_of_threads(self, task):
        """Each task has a number of threads of its own, which its children inherit."""
        t = self.name("t")
        n = task.level
        self.array(task, t, 6)
        self.open("for (int i = 0; i < 3; ++i) {")
        self.put("#pragma omp task firstprivate(i)")
        self.open()
        self.put(f"struct scope const* const me{n + 1} = enter(me{n}, 1, {int(self.constrained)}, {task.final});")
        self.put("omp_set_num_threads(i + 2);")
        self.put("#pragma omp task firstprivate(i)")
        self.open()
        self.put(f"{t}[2 * i] = omp_get_max_threads();")
        self.put("omp_set_num_threads(9);")
        self.close()
        self.put("#pragma omp taskwait")
        self.put("#ifndef _OPENMP")
        self.put("omp_set_num_threads(i + 2);")
        self.put("#endif")
        self.put(f"{t}[2 * i + 1] = omp_get_max_threads();")
        self.put(f"leave(me{n + 1});")
        self.close()
        self.close()
        self.fold_later(task, t, 6)

    def inner_region(self, task):
        n = task.level
        self.regions += 1
        x = self.name("x")
        self.put(f"Word {x} = 0;")
        kind = self.random.choice(("single", "for", "reduction"))
        threads = self.random.choice(("num_threads(2)", "num_threads(3)", "num_threads(1)", "if(0)"))
        inner = Task(n + 1, -1)  # an implicit task is not final, but libomp 19 says so in a serialized region
        if kind == "reduction":
            self.put(f"#pragma omp parallel {threads} reduction(task, +: {x})")
            self.open()
            self.put("#pragma omp single")
            self.open("for (int i = 0; i < 7; ++i) {")
            self.put(f"#pragma omp task in_reduction(+: {x}) firstprivate(i)")
            self.put(f"{{ burn(100); {x} += mix({self.new_id()}, i); }}")
            self.close()
            self.close()
        elif kind == "for":
            self.put(f"#pragma omp parallel for {threads} reduction(+: {x}) schedule(dynamic)")
            self.open("for (int i = 0; i < 5; ++i) {")
            self.put("Word part = 0;")
            self.put("#pragma omp task shared(part) firstprivate(i)")
            self.put(f"{{ burn(100); part = mix({self.new_id()}, i); }}")
            self.put("#pragma omp taskwait")
            self.put(f"{x} += part;")
            self.close()
        else:
            self.put(f"#pragma omp parallel {threads}")
            self.put("#pragma omp single")
            self.open()
            self.begin(inner, f"enter(me{n}, 0, 0, -1)", f"sum{n}")  # whichever thread it is
            self.sequence(inner, 2)
            self.end(inner)
            self.put(f"{x} = acc{n + 1};")
            self.close()
        self.put(f"stay(me{n});")
        self.put(f"acc{n} = mix(acc{n}, {x});")

    # -- sequences and regions --------------------------------------------------------------------------------

    def begin(self, task, parent, total):
        """The variables of a task in whose body there are statements."""
        n = task.level
        self.put(f"struct scope const* const me{n} = {parent};")
        self.put(f"Word acc{n} = {self.new_id()};")
        self.put(f"Word* const sum{n} = {total};")
        self.put(f"(void)me{n};")

    def end(self, task):
        """After the last wait; in a region's own task, which has no result, the sum takes it."""
        self.put(f"add(sum{task.level}, acc{task.level});")

    def sequence(self, task, count, own_results=True):
        n = task.level
        if own_results:
            marker = f"@results {self.name('')}"
            self.put(marker)
        ways = [(self.child, 5), (self.children_in_a_loop, 2), (self.dependences, 3), (self.task_loop, 2),
                (self.recursion, 1), (self.yields, 0.5), (self.exclusive, 0.5), (self.number_of_threads, 0.4)]
        if not self.outside:
            ways.append((self.reduction, 1.5))
        if n < 5:
            ways.append((self.group, 1.5))
        ways.append((self.locked, 0.5) if self.constrained else (self.untied_in_parts, 1))
        if self.regions < 2 and n < 4:
            ways.append((self.inner_region, 0.5))
        for _ in range(count):
            if self.budget <= 0:
                break
            self.budget -= 1
            way = self.random.choices([w for w, _ in ways], [weight for _, weight in ways])[0]
            if way == self.recursion and task.pending:
                self.wait(task)
            way(task)
            if self.chance(0.3):
                self.wait(task)
        if own_results:
            if (task.results or task.pending) and self.chance(0.7):
                self.wait(task)
            self.lines[self.lines.index("  " * self.depth + marker)] = (
                "  " * self.depth + f"Word* const r{n} = words({max(1, task.results)});")

    def region(self):
        """One parallel region, or none."""
        total = self.name("total")
        self.put(f"Word* const {total} = words(1);")
        kind = self.random.choice(("single", "single", "single", "masked", "for", "sections", "nowait", "reduction", "outside",
                                   "serialized", "detach", "barrier", "threads"))
        task = Task(0)
        if kind in ("single", "serialized"):
            self.put("#pragma omp parallel" + (" if(0)" if kind == "serialized" else ""))
            self.put("#pragma omp single" + (" nowait" if self.chance(0.3) else ""))
            self.block(task, total, 5)
        elif kind == "masked":
            self.put("#pragma omp parallel")
            self.put("#pragma omp master")
            self.block(task, total, 4)
        elif kind == "for":
            schedule = self.random.choice(("static", "dynamic", "guided", "static, 1"))
            self.put("#pragma omp parallel")
            self.open()
            self.put(f"#pragma omp for schedule({schedule})" + (" nowait" if self.chance(0.5) else ""))
            self.open("for (int k = 0; k < 6; ++k) {")
            self.budget = min(self.budget, 12)
            self.begin(task, "NULL", total)
            self.put("acc0 = mix(acc0, k);")
            self.sequence(task, 3)
            self.end(task)
            self.close()
            self.close()
        elif kind == "sections":
            self.put("#pragma omp parallel sections")
            self.open()
            for _ in range(3):
                self.put("#pragma omp section")
                self.block(Task(0), total, 2)
            self.close()
        elif kind == "nowait":
            self.put("#pragma omp parallel")
            self.open()
            for _ in range(2):
                self.put("#pragma omp single nowait")
                self.block(Task(0), total, 2)
            self.close()
        elif kind == "barrier":
            # A barrier completes the tasks of all threads, so what they added up is known behind it.
            self.put("#pragma omp parallel")
            self.open()
            self.put("#pragma omp single nowait")
            self.block(task, total, 3)
            self.put("#pragma omp barrier")
            self.put("#pragma omp single")
            self.put(f"*{total} = mix(*{total}, {self.new_id()});")
            self.close()
        elif kind == "reduction":
            x = self.name("x")
            operator = self.random.choice(("+", "^", "|"))
            start, step = OPERATORS[operator]
            self.put(f"Word {x} = {start};")
            self.put(f"#pragma omp parallel reduction(task, {operator}: {x})")
            self.open()
            self.put("#pragma omp single")
            self.open()
            self.begin(task, "NULL", total)
            self.participants(task, operator, step, x)
            self.close()
            self.close()
            self.put(f"add({total}, {x});")
        elif kind == "outside":
            self.outside = True
            self.block(Task(0, -1), total, 4)
            self.outside = False
        elif kind == "detach":
            self.detached(total)
        else:
            self.foreign_threads(total)
        self.put(f"graph = mix(graph, *{total});")

    def block(self, task, total, count):
        self.open()
        self.begin(task, "NULL", total)
        self.sequence(task, self.random.randrange(1, count + 1))
        self.end(task)
        self.close()

    def foreign_threads(self, total):
        """Threads of the program's own, each with its own tasks outside of any region."""
        function = self.name(f"thread{self.seed}_")
        outer, self.lines, depth, self.depth = self.lines, [], self.depth, 1
        self.lines.append(f"static void {function}(Word* argument) {{")
        self.begin(Task(0), "NULL", "argument")
        if self.chance(0.5):
            self.put("#pragma omp parallel num_threads(2)")
            self.put("#pragma omp single")
        else:
            self.outside = True
        self.open()
        self.begin(Task(1), "NULL", "sum0")
        task = Task(1, -1)
        self.sequence(task, 2)
        self.end(task)
        self.close()
        self.outside = False
        self.lines += ["}", ""]
        self.functions += self.lines
        self.lines, self.depth = outer, depth
        for which in (0, 1):
            self.put(f"begin_elsewhere({which}, {function}, {total});")
        for which in (0, 1):
            self.put(f"end_elsewhere({which});")

    def detached(self, total):
        """Few tasks: beyond 64 for a thread, libgomp runs a task at once, and would wait there for its event."""
        # Not one thread: there libomp 19 may lose what a foreign thread fulfils, and asserts in a later region.
        self.put(f"#pragma omp parallel num_threads({self.random.randrange(2, 5)})")
        self.put("#pragma omp single")
        self.open()
        task = Task(0)
        self.begin(task, "NULL", total)
        count = self.random.randrange(1, 6)
        cells = self.name("c")
        self.put(f"Word* const {cells} = words({count});")
        self.put(f"Word* const r0 = words({count});")
        threads = []
        for k in range(count):
            event = self.name("event")
            how = self.random.choice(("itself", "sibling", "parent", "thread"))
            value = self.new_id()
            here = f"{cells}[{k}] = {value}; omp_fulfill_event({event});"
            self.put(f"omp_event_handle_t {event} = (omp_event_handle_t)0;")
            self.put(f"#pragma omp task detach({event}) depend(out: {cells}[{k}])")
            self.put(f"{{ burn(200); add(sum0, {self.new_id()}); {here if how == 'itself' else ''} }}")
            if how == "sibling":
                self.put(f"#pragma omp task firstprivate({event})")
                self.put(f"{{ burn(2000); {here} }}")
            elif how == "thread":
                threads.append(self.name("thread"))
                self.put(f"pthread_t const {threads[-1]} = fulfil_elsewhere({event}, &{cells}[{k}], {value});")
            elif how == "parent":
                if self.chance(0.5):
                    self.put("burn(5000);")
                self.put(here)
            self.put(f"#pragma omp task depend(in: {cells}[{k}])")
            self.put(f"{{ r0[{k}] = mix({self.new_id()}, {cells}[{k}]); add(sum0, r0[{k}]); }}")
        self.put("#pragma omp taskwait")
        self.put(f"for (int n = 0; n < {count}; ++n) acc0 = mix(acc0, r0[n]);")
        for thread in threads:
            self.put(f"join({thread});")
        self.end(task)
        self.close()

    def text(self):
        self.put(f"Word graph = {self.new_id()};")
        for _ in range(self.random.randrange(1, 4)):
            self.open()
            self.region()
            self.close()
            if self.budget <= 0:
                break
        self.put("return graph;")
        return "\n".join(self.functions + [f"static Word graph{self.seed}(void) {{"] + self.lines + ["}", ""])


def program(seeds):
    parts = ['#include "graph.h"', ""] + [Graph(seed).text() for seed in seeds]
    parts += ["int main(int count, char** words) {", "  int failed = 0;", "  omp_set_max_active_levels(3);"]
    parts += [f"  if (asked({seed}, count, words)) failed |= run_graph({seed}, graph{seed});" for seed in seeds]
    return "\n".join(parts + ["  return failed;", "}", ""])


if __name__ == "__main__":
    if len(sys.argv) != 3 or not all(word.isdigit() for word in sys.argv[1:]):
        sys.exit(__doc__)
    sys.stdout.write(program(range(int(sys.argv[1]), int(sys.argv[1]) + int(sys.argv[2]))))
