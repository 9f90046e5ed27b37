#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py finds what it says it finds: a clean house passes, each planted violation is named."""

import pathlib
import tempfile
import unittest

import tidy

SPDX = "// SPDX-License-Identifier: Apache-2.0\n"
HEADER = SPDX + "#pragma once\n"

CLEAN = {
    "src/CMakeLists.txt": "# SPDX-License-Identifier: Apache-2.0\ninclude/nigh/array.hpp\n"
                          "include/nigh/detail/atomic.hpp\n",
    "include/nigh/array.hpp": HEADER + "#include <vector>\n",
    "include/nigh/detail/atomic.hpp":
        HEADER + "#include <atomic>\ntemplate <class T> using a = std::atomic<T>;\n",
    "src/base/atomic.hpp": HEADER + "#include <nigh/detail/atomic.hpp>\n",
    "src/platform/pages.hpp": HEADER + '#include <sys/mman.h>\n#include "base/atomic.hpp"\n',
    "src/topology/load.hpp": HEADER + '#include <hwloc.h>\n#include "platform/pages.hpp"\n',
    "src/policy/order.hpp": HEADER + '#include <vector>\n#include "topology/load.hpp"\n',
    "src/memory/block.cpp": SPDX + '#include <nigh/array.hpp>\n#include "platform/pages.hpp"\n',
    "lab/workloads/jacobi/kernel.cpp": SPDX + "#include <immintrin.h>\n#ifdef __x86_64__\n#endif\n",
    "lab/workloads/jacobi/kernel.hpp": HEADER,
    "lab/workloads/team.hpp": HEADER,
    "lab/bench/jacobi.cpp": SPDX + '#include "jacobi/kernel.hpp"\n',
    "tests/unit/a_test.cpp": SPDX + '#include <unistd.h>\n#include "memory/none.hpp"\n',
}


class Tidy(unittest.TestCase):
    def check(self, files):
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                path = pathlib.Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text(text, encoding="utf-8")
            return tidy.Checker(pathlib.Path(folder)).run()

    def finds(self, name, text, *words):
        found = self.check({**CLEAN, name: text})
        self.assertEqual(len(found), 1, found)
        self.assertTrue(found[0].startswith(name + ":"), found)
        for word in words:
            self.assertIn(word, found[0])

    def passes(self, name, text):
        self.assertEqual(self.check({**CLEAN, name: text}), [])

    def test_clean_house(self):
        self.assertEqual(self.check(CLEAN), [])

    def test_upward_include(self):
        self.finds("src/platform/a.cpp", SPDX + '#include "topology/load.hpp"\n', "src/topology")

    def test_sideways_include(self):
        self.finds("src/trace/a.cpp", SPDX + '#include "policy/order.hpp"\n', "src/policy")

    def test_transitive_include_below_is_allowed(self):
        self.passes("src/runtime/a.cpp", SPDX + '#include "topology/load.hpp"\n')

    def test_pure_layer_does_not_reach_the_system(self):
        self.finds("src/policy/a.hpp", HEADER + '#include "platform/pages.hpp"\n', "src/platform")
        self.finds("src/policy/a.hpp", HEADER + "#include <chrono>\n", "plain data")
        self.finds("src/coordinator/core/a.hpp", HEADER + "#include <mutex>\n", "plain data")

    def test_future_rows(self):
        files = {"src/coordinator/client/c.hpp": HEADER, "src/runtime/t.hpp": HEADER}
        shim = SPDX + '#include "coordinator/client/c.hpp"\n'
        self.assertEqual(self.check({**CLEAN, **files, "src/openmp/shim.cpp": shim}), [])
        found = self.check({**CLEAN, **files, "src/openmp/shim.cpp": SPDX + '#include "runtime/t.hpp"\n'})
        self.assertEqual(len(found), 1, found)

    def test_classes_of_other_layers_are_not_named(self):
        files = {**CLEAN, "src/runtime/worker.hpp": HEADER + "struct alignas(64) Worker {};\n"}
        for header in ("struct Worker;\n", "class A {\n  friend struct tasks::Worker;\n};\n"):
            found = self.check({**files, "lab/workloads/jacobi/kernel.hpp": HEADER + header})
            self.assertEqual(len(found), 1, found)
            self.assertIn("Worker is of src/runtime", found[0])
        nested = HEADER + "class A {\n  struct Worker;\n};\n"
        self.assertEqual(self.check({**files, "workloads/jacobi/kernel.hpp": nested}), [])
        self.assertEqual(self.check({**files, "src/loops/a.hpp": HEADER + "struct Worker;\n"}), [])

    def test_comments_are_plain(self):
        self.finds("src/base/a.cpp", SPDX + "// What is left goes.\n", '"What"')
        self.finds("src/base/a.cpp", SPDX + "int a;  // Goes. Who asks\n// waits.\n", '"Who"')
        self.finds("src/base/a.cpp", SPDX + "// All wait, but for\n// one.\n", '"but for"')
        self.finds("src/base/a.cpp", SPDX + "// A guest waits.\n", "external thread")
        self.finds("src/base/a.cpp", SPDX + "// One goes.\n//\n// What is left goes.\n", '"What"')
        self.finds("src/base/a.cpp", SPDX + "// One goes.\n// (a.A) Whom it asks is seen.\n", '"Whom"')
        self.finds("tests/a.py", "# " + SPDX[3:] + "# Whoever asks waits.\n", '"Whoever"')
        self.passes("src/base/a.cpp", SPDX + "// What is left? Those who ask know what.\n")
        self.passes("src/base/a.cpp", SPDX + 'auto a = "// What is left goes.";\n')

    def test_letters_are_defined_once_with_a_prefix(self):
        stack = HEADER + "// (stack.C) A task is seen whole.\nint a;  // (stack.C)\n"
        self.passes("src/runtime/task_stack.hpp", stack)
        self.finds("src/runtime/a.hpp", HEADER + "int a;  // (C)\n", "prefix")
        self.finds("src/runtime/a.hpp", HEADER + "int a;  // as (stack.C) says\n", "nowhere")
        self.finds("src/runtime/a.hpp", HEADER + "// (stack.C) is defined where the file is called so.\n", "nowhere")
        self.finds("src/runtime/task_stack.hpp", stack + "// (stack.C) Again.\n", "too")
        self.passes("src/runtime/a.hpp", HEADER + 'auto a = "paused (Z)";\nusing R = decltype(F);  // sizeof(T)\n')
        test = SPDX + 'TEST(Stack, C) { expect_needed("stack.C"); }\n'
        self.finds("tests/model/a_test.cpp", test, "(stack.C)")
        self.assertEqual(self.check({**CLEAN, "src/runtime/task_stack.hpp": stack, "tests/model/a_test.cpp": test}), [])

    def test_orders_point_at_their_letter(self):
        stack = HEADER + "// (stack.C) A task is seen whole.\n"
        self.passes("src/runtime/task_stack.hpp", stack + "a.store(1, sync::release);  // (stack.C)\n"
                    "if (a.load(sync::acquire) == 1)\n  go();  // (stack.C)\na.load(sync::relaxed);\n")
        self.finds("src/runtime/task_stack.hpp", stack + "int b = a.load(sync::acquire);\nint c;  // (stack.C)\n", ":4", "letter")
        self.finds("src/runtime/a.cpp", SPDX + "a.fetch_add(1, sync::seq_cst);  // counts\n", ":2", "letter")
        self.finds("src/runtime/a.cpp", SPDX + "for (auto n = a.load(sync::acquire); n != 0;\n"
                   "     n = 0)\n  wait();\n", ":2", "letter")
        self.passes("tests/unit/b_test.cpp", SPDX + "a.load(sync::acquire);\n")

    def test_pages_are_plain(self):
        self.passes("docs/loops.md", "# Loops\n\nA worker takes it. Who takes it?\n\n```\nWho takes it.\n```\n")
        self.finds("docs/loops.md", "# Loops\n\nA worker\ntakes it. Who takes it\nruns it.\n", "name the actor", ":3")
        self.finds("docs/loops.md", "| a | b |\n| What is left | all but one |\n", "name the actor", ":2")
        self.finds("docs/decisions/0001.md", "- All of them, but\n  for one.\n", "except")

    def test_words_of_the_glossary_have_one_meaning(self):
        table = "| word | meaning |\n| --- | --- |\n| steal | ... |\n| victim, thief | ... |\n"
        self.passes("docs/glossary.md", table)
        self.finds("docs/glossary.md", table + "| *Thief* | ... |\n", "thief", "line 4")

    def test_missing_file(self):
        self.finds("src/memory/a.cpp", SPDX + '#include "memory/none.hpp"\n', "no file")

    def test_workloads_know_the_public_interface_only(self):
        self.finds("lab/workloads/jacobi/a.cpp", SPDX + '#include "platform/pages.hpp"\n', "src/platform")
        self.finds("lab/workloads/other/a.cpp", SPDX + '#include "jacobi/kernel.hpp"\n', "another workload")
        self.passes("lab/workloads/jacobi/a.cpp", SPDX + '#include "kernel.hpp"\n')
        self.passes("lab/workloads/jacobi/a.cpp", SPDX + '#include "workloads/team.hpp"\n')

    def test_bench_knows_no_command(self):
        self.finds("lab/bench/a.cpp", SPDX + '#include "topology/load.hpp"\n', "src/topology")
        self.passes("lab/bench/a.cpp", SPDX + '#include "platform/pages.hpp"\n')

    def test_public_header_includes_public_headers_only(self):
        self.finds("include/nigh/array.hpp", HEADER + '#include "base/atomic.hpp"\n', "src/base")

    def test_system_headers(self):
        for header in ("sys/mman.h", "unistd.h", "sched.h", "linux/futex.h", "pthread.h"):
            self.finds("src/runtime/a.cpp", SPDX + f"#include <{header}>\n", header)
        self.finds("lab/workloads/jacobi/a.cpp", SPDX + "#include <unistd.h>\n", "unistd.h")

    def test_hwloc_stays_below(self):
        self.finds("src/memory/a.cpp", SPDX + "#include <hwloc.h>\n", "hwloc")

    def test_mpi_stays_where_it_is_spoken(self):
        self.finds("src/cluster/a.cpp", SPDX + "#include <mpi.h>\n", "mpi.h")
        self.passes("src/cluster/mpi/a.cpp", SPDX + "#include <mpi.h>\n")
        self.passes("src/cluster/mpi/a.cpp", SPDX + "#include <dlfcn.h>\n")

    def test_processor(self):
        self.finds("src/runtime/a.hpp", HEADER + "#include <immintrin.h>\n", "immintrin.h")
        self.finds("src/runtime/a.hpp", HEADER + "#ifdef __x86_64__\n#endif\n", "__x86_64__")
        self.finds("src/runtime/a.hpp", HEADER + "#if defined(__linux__)\n#endif\n", "__linux__")
        self.passes("src/platform/a.hpp", HEADER + "#ifdef __x86_64__\n#endif\n")

    def test_atomics(self):
        self.finds("src/runtime/a.hpp", HEADER + "std::atomic<int> a;\n", "std::atomic")
        self.finds("src/runtime/a.hpp", HEADER + "f(std::memory_order_relaxed);\n", "memory_order")
        self.finds("src/runtime/a.hpp", HEADER + "#include <atomic>\n", "base/atomic.hpp")
        self.finds("src/runtime/a.hpp", HEADER + "int x = a.load();\n", "memory order")
        self.passes("src/runtime/a.hpp", HEADER + "// unlike std::atomic<int>\n")
        self.passes("tests/unit/b_test.cpp", SPDX + "std::atomic<int> a;\n")

    def test_first_lines(self):
        self.finds("src/base/a.cpp", "int a;\n", "SPDX")
        self.finds("src/base/a.hpp", SPDX + "int a;\n", "#pragma once")
        self.finds("cmake/a.cmake", "set(a b)\n", "SPDX")
        self.finds("scripts/a.sh", "#!/bin/bash\necho\n", "SPDX")
        self.finds("run", "#!/bin/bash\necho\n", "SPDX")
        self.passes("run", "#!/bin/bash\n# SPDX-License-Identifier: Apache-2.0\n")
        self.passes("notes.txt", "anything\n")

    def test_length(self):
        self.finds("src/base/a.cpp", SPDX + "int a;\n" * 600, "601 lines")
        self.passes("src/base/a.cpp", SPDX + "// tidy: long, because it is one table\n" + "int a;\n" * 600)

    def test_open_ends(self):
        for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"):
            self.finds("src/base/a.cpp", SPDX + f"// {word}: later\n", word)

    def test_public_header_that_is_not_installed(self):
        self.finds("include/nigh/new.hpp", HEADER, "header set")

    def test_the_simulator_has_no_policy_of_its_own(self):
        policy = {"src/policy/order.hpp": HEADER + "struct VictimOrder {\n  struct Level {};\n};\nenum class Idle { a };\n"}
        for text in ("class VictimOrder {\n", "  struct VictimOrder final {\n", "enum class Idle : char { a };\n"):
            found = self.check({**CLEAN, **policy, "lab/sim/a.hpp": HEADER + text})
            self.assertEqual(len(found), 1, found)
            self.assertIn("lab/sim/a.hpp:3: ", found[0])
        for text in ("struct VictimOrder;\n", "struct Level {};\n", "VictimOrder order;\n"):
            self.assertEqual(self.check({**CLEAN, **policy, "lab/sim/a.hpp": HEADER + text}), [])

    def test_the_simulator_has_no_function_of_a_policys_name(self):
        policy = {"src/policy/order.hpp": HEADER + "inline std::vector<int> victim_order(int self) {\n  int rest(3);\n}\n"
                                                   "template <class T>\nconstexpr std::optional<int> chunk(T n,\n"
                                                   "inline Order Order::of(int n) {\nconstexpr char const* to_string(T t) {\n"}
        for text in ("int victim_order(int self);\n", "  static std::vector<int> victim_order(int self) {\n",
                     "std::size_t Run::chunk(std::size_t waiting,\n", "auto chunk(int n) {\n", "int const& chunk() {\n"):
            found = self.check({**CLEAN, **policy, "lab/sim/a.hpp": HEADER + text})
            self.assertEqual(len(found), 1, (text, found))
            self.assertIn("lab/sim/a.hpp:3: ", found[0])
        for text in ("auto const c = policy::chunk(3);\n", "  return victim_order(3);\n", "  else chunk(3);\n", "int rest(int n);\n",
                     "Groups Groups::of(int n) {\n", "std::string to_string(T t) {\n", "  run(chunk(3));\n"):
            self.assertEqual(self.check({**CLEAN, **policy, "lab/sim/a.hpp": HEADER + text}), [], text)

    def test_line_number(self):
        found = self.check({**CLEAN, "src/runtime/a.cpp": SPDX + "/* one\n two */\n#include <sched.h>\n"})
        self.assertTrue(found[0].startswith("src/runtime/a.cpp:4:"), found)


if __name__ == "__main__":
    unittest.main()
