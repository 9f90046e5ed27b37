# SPDX-License-Identifier: Apache-2.0
"""Spack's recipe: spack repo add packaging/spack && spack dev-build -d . nigh@main"""
from spack_repo.builtin.build_systems.cmake import CMakePackage

from spack.package import *


class Nigh(CMakePackage):
    """Runs parallel work near its data: a task runtime for NUMA machines, and commands that place threads and
    memory of any program and share a host among OpenMP programs."""

    # There is no public place to fetch nigh from yet: it is built from a clone, by dev-build.
    has_code = True
    homepage = "https://nigh.example"
    url = "file:///nigh-0.2.0.tar.gz"

    license("Apache-2.0", checked_by="nigh")

    version("main", branch="main", git="file:///nigh")

    variant("tools", default=True, description="The commands nigh and nighd")
    variant("benchmarks", default=False, description="The benchmarks of nigh bench")
    variant("fortran", default=True, description="The Fortran module")
    variant("mpi", default=False, description="Tasks on many ranks")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("fortran", type="build", when="+fortran")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("hwloc@2.5:")
    depends_on("mpi", when="+mpi")
    with when("+tools"):
        depends_on("cli11@2.2:", type="build")
        depends_on("elfutils")
        depends_on("fmt@9:")
        depends_on("ncurses")
        depends_on("nlohmann-json@3.10:", type="build")
        depends_on("re2")
        depends_on("spdlog@1.10:")
        depends_on("python@3.8:", type="run")
    with when("+benchmarks"):
        depends_on("tbb")

    requires("+tools", when="+benchmarks", msg="nigh bench starts the benchmarks")
    conflicts("platform=darwin", msg="nigh is for Linux")
    conflicts("platform=windows", msg="nigh is for Linux")
    conflicts("%gcc@:11", msg="nigh needs C++20")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("NIGH_TESTS", False),
            self.define_from_variant("NIGH_TOOLS", "tools"),
            self.define_from_variant("NIGH_WORKLOADS", "benchmarks"),
            self.define_from_variant("NIGH_FORTRAN", "fortran"),
            self.define_from_variant("NIGH_MPI", "mpi"),
        ]
