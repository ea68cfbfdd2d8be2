# SPDX-License-Identifier: Apache-2.0
# What cpack makes .deb packages of: builds that exist, one of the library and one for each MPI. `make` beside it calls it,
# with the builds in COSET_PACKAGE_BUILDS. cmake/packaging/README.md lists the packages.
cmake_minimum_required(VERSION 3.25)
cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH sources)
cmake_path(GET sources PARENT_PATH sources)
file(STRINGS ${sources}/include/coset/detail/version.h version REGEX "define COSET_VERSION_[A-Z]+ [0-9]")
list(TRANSFORM version REPLACE ".* " "")
list(GET version 0 major)
list(GET version 1 minor)
list(JOIN version . version)

set(CPACK_GENERATOR DEB)
set(CPACK_CMAKE_GENERATOR Ninja)
set(CPACK_PACKAGE_NAME coset)
set(CPACK_PACKAGE_VENDOR coset)
set(CPACK_PACKAGE_VERSION ${version})
set(CPACK_PACKAGE_FILE_NAME coset)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "Reductions over the threads of a machine, and of processes")
set(CPACK_PACKAGE_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION_SUMMARY}")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_MAINTAINER "coset maintainers <maintainers@coset.invalid>")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)  # where there are any
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_LIST_DIR}/staged.cmake)
set(COSET_PACKAGE_SOURCES ${sources})

set(CPACK_COMPONENTS_ALL)
set(CPACK_INSTALL_CMAKE_PROJECTS)
# package(COMPONENT NAME SECTION BUILD DESCRIPTION [dependency…]): `same` stands for this version of what follows it.
macro(package component name section build description)
  list(APPEND CPACK_COMPONENTS_ALL ${component})
  list(APPEND CPACK_INSTALL_CMAKE_PROJECTS ${build} coset ${component} /)
  string(TOUPPER ${component} upper)
  set(CPACK_COMPONENTS_${upper} ${component})  # what cpack installs where a project's fourth word is the component
  set(CPACK_COMPONENT_${upper}_DESCRIPTION "${description}")
  set(CPACK_DEBIAN_${upper}_PACKAGE_NAME ${name})
  set(CPACK_DEBIAN_${upper}_PACKAGE_SECTION ${section})
  set(depends ${ARGN})
  list(TRANSFORM depends REPLACE "^same:(.*)" "\\1 (= ${version})")
  list(JOIN depends ", " CPACK_DEBIAN_${upper}_PACKAGE_DEPENDS)
endmacro()

# Before 1.0 each minor version has a binary interface, and so a library package, of its own.
set(library libcoset${major}.${minor})
set(mpi_library_openmpi libopenmpi-dev)
set(mpi_library_mpich libmpich-dev)
set(has_preload OFF)  # which is the same of each MPI
string(REPLACE ":" ";" builds "$ENV{COSET_PACKAGE_BUILDS}")
foreach(build ${builds})
  file(STRINGS ${build}/CMakeCache.txt mpi REGEX "^COSET_MPI:")
  string(REGEX REPLACE ".*=" "" mpi ${mpi})
  if(mpi STREQUAL "off")
    package(runtime ${library} libs ${build} "The shared library.")
    package(development libcoset-dev libdevel ${build} "Headers, the static library, and files for CMake and pkg-config."
      same:${library} libhwloc-dev)
    package(tools coset-tools utils ${build} "The command coset: plans, predictions and measurements of collectives.")
    if(EXISTS ${build}/coset-lab)
      package(lab coset-lab utils ${build}
        "What the command starts to price, simulate and reproduce, rivals to measure beside, and coset::study." same:coset-tools)
      set(CPACK_DEBIAN_LAB_PACKAGE_SHLIBDEPS ON)
      set(CPACK_DEBIAN_LAB_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)
    endif()
    package(documentation coset-doc doc ${build} "Documents and examples.")
    set(CPACK_DEBIAN_DOCUMENTATION_PACKAGE_ARCHITECTURE all)
    foreach(part RUNTIME TOOLS)
      set(CPACK_DEBIAN_${part}_PACKAGE_SHLIBDEPS ON)
    endforeach()
    set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA ${CMAKE_CURRENT_LIST_DIR}/triggers)  # of the linker's cache
    # Of Debian's Python; another's module would be where that looks.
    file(STRINGS ${build}/CMakeCache.txt folder REGEX "^COSET_PYTHON_FOLDER:.*/python3[.][0-9]+/dist-packages$")
    file(GLOB module ${build}/python/coset.*.so)
    if(folder AND module)
      string(REGEX REPLACE ".*/python3[.]([0-9]+)/.*" "\\1" minor_of_python ${folder})
      math(EXPR next "${minor_of_python} + 1")
      package(python python3-coset python ${build} "Module coset for Python."
        "python3 (>= 3.${minor_of_python})" "python3 (<< 3.${next})")
      set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
      set(CPACK_DEBIAN_PYTHON_PACKAGE_RECOMMENDS python3-numpy)
    endif()
    if(EXISTS ${build}/src/bindings/fortran/modules)
      package(fortran libcoset-fortran-dev libdevel ${build} "Module coset for gfortran." same:libcoset-dev)
    endif()
  else()
    if(NOT has_preload)
      package(preload libcoset-preload libs ${build}
        "What programs for any MPI preload, whose collectives libcoset-openmpi or libcoset-mpich then carries out.")
      set(CPACK_DEBIAN_PRELOAD_PACKAGE_SHLIBDEPS ON)
      set(has_preload ON)
    endif()
    package(${mpi}_runtime libcoset-${mpi} libs ${build}
      "What carries out the collectives of programs for ${mpi}, which preload libcoset_preload.so, and teams over processes as a \
shared library." same:libcoset-preload)
    string(TOUPPER ${mpi} upper)
    set(CPACK_DEBIAN_${upper}_RUNTIME_PACKAGE_SHLIBDEPS ON)
    package(${mpi}_development libcoset-${mpi}-dev libdevel ${build}
      "Teams over processes for ${mpi}, in C++, C and Fortran." same:libcoset-dev same:libcoset-${mpi} ${mpi_library_${mpi}})
  endif()
endforeach()
