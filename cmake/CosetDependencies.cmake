# SPDX-License-Identifier: Apache-2.0
# The library's own dependencies; one room each may link hwloc (numa) and Highway (src/kernels). What only tools,
# rivals or tests need is found in their folders.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
# GLOBAL: a project that adds coset as a subdirectory has to see what the static library links.
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET GLOBAL hwloc>=2.1)
find_package(hwy 1.0 REQUIRED GLOBAL)
# Its headers alone: see src/text.
find_package(fmt REQUIRED)
get_target_property(coset_fmt_folders fmt::fmt INTERFACE_INCLUDE_DIRECTORIES)
