# SPDX-License-Identifier: Apache-2.0
# Conan 2's recipe: conan create cmake/packaging/conan. NOT RUN: Conan was not at hand; the options are those of
# CMakeLists.txt, which the tests do run. The library alone, without MPI.
import os

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, rmdir
from conan.tools.gnu import PkgConfigDeps


class Coset(ConanFile):
    name = "coset"
    version = "0.1.0"
    license = "Apache-2.0"
    description = "Reductions over the threads of a machine, and of processes"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False]}
    default_options = {"shared": True}
    package_type = "library"

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..", "..")
        for pattern in ("CMakeLists.txt", "LICENSE", "README.md", "cmake/*", "docs/*", "examples/*", "include/*", "numa/*",
                        "src/*"):
            copy(self, pattern, root, self.export_sources_folder)

    def requirements(self):
        self.requires("fmt/[>=9]", headers=True, libs=False)
        self.requires("highway/[>=1.0]", libs=False, visible=False)
        self.requires("hwloc/[>=2.4]")
        self.requires("nlohmann_json/[>=3.11]")

    def build_requirements(self):
        self.tool_requires("cmake/[>=3.25]")
        self.tool_requires("pkgconf/[>=1.8]")

    def validate(self):
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("coset is for Linux")
        check_min_cppstd(self, 20)

    def layout(self):
        cmake_layout(self)

    def generate(self):
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()
        toolchain = CMakeToolchain(self)
        toolchain.cache_variables["COSET_BUILD_TOOLS"] = False
        toolchain.cache_variables["COSET_LAB"] = False
        for language in ("FORTRAN", "PYTHON"):
            toolchain.cache_variables[f"COSET_{language}"] = "off"
        toolchain.generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build()

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        # coset's own files serve CMake; Conan need not write others.
        self.cpp_info.set_property("cmake_find_mode", "none")
        self.cpp_info.builddirs = [os.path.join("lib", "cmake", "coset")]
        self.cpp_info.libs = ["coset"]
