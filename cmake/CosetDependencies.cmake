# SPDX-License-Identifier: Apache-2.0
# The library's own dependencies; one room each may link hwloc (numa) and include Highway (src/runtime/kernels). What only tools,
# rivals or tests need is found in their folders.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# coset_find(TARGET PACKAGE [word…]): find_package(PACKAGE REQUIRED word…), but for a project around this one that has such a
# target already: that is used, as a second one of its name there cannot be.
macro(coset_find target package)
  if(NOT TARGET ${target})
    find_package(${package} REQUIRED ${ARGN})
  endif()
endmacro()

# GLOBAL: a project that adds coset as a subdirectory has to see what the static library links.
if(NOT TARGET PkgConfig::hwloc)
  pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET GLOBAL hwloc>=2.4)
endif()
coset_find(hwy::hwy hwy 1.0 GLOBAL)
# Of these two the library uses headers alone: see src/base/text and src/planning/schedule.
coset_find(nlohmann_json::nlohmann_json nlohmann_json)
coset_find(fmt::fmt fmt)
set(coset_fmt_folders $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
