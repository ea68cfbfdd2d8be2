# SPDX-License-Identifier: Apache-2.0
# Spack's recipe. NOT RUN: Spack was not at hand; the options are those of CMakeLists.txt, which the tests do run.
# A repository of recipes has it as packages/coset/package.py; `git` names where you have the sources.
from spack.package import *


class Coset(CMakePackage):
    """Reductions over the threads of a machine, and of processes."""

    homepage = "https://example.org/coset"
    git = "https://example.org/coset.git"
    license("Apache-2.0")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("shared", default=True, description="coset::coset is the shared library")
    variant("tools", default=True, description="Build the command coset, with what it measures against")
    variant("fortran", default=True, description="Build the Fortran module")
    variant("mpi", default="none", values=("none", "openmpi", "mpich"), multi=False, description="Teams over processes")

    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("fmt@9:", type=("build", "link"))
    depends_on("nlohmann-json@3.11:", type="build")
    depends_on("highway@1:", type="build")  # its headers alone
    depends_on("hwloc@2.4:")
    depends_on("cli11@2.1:", type="build", when="+tools")
    depends_on("lua@5.4", when="+tools")
    depends_on("intel-oneapi-tbb", when="+tools")
    depends_on("openmpi", when="mpi=openmpi")
    depends_on("mpich", when="mpi=mpich")

    generator("ninja")
    conflicts("%gcc@:11", msg="coset needs C++20")
    conflicts("%clang@:13", msg="coset needs C++20")
    conflicts("platform=darwin", msg="coset is for Linux")
    conflicts("platform=windows", msg="coset is for Linux")

    def cmake_args(self):
        mpi = self.spec.variants["mpi"].value
        return [
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define_from_variant("COSET_BUILD_TOOLS", "tools"),
            self.define_from_variant("COSET_LAB", "tools"),
            self.define("COSET_PYTHON", "off"),
            self.define("COSET_FORTRAN", "on" if "+fortran" in self.spec else "off"),
            self.define("COSET_MPI", "off" if mpi == "none" else mpi),
        ]
