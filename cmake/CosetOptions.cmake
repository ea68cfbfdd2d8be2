# SPDX-License-Identifier: Apache-2.0
# What a build of coset can choose, and the flags that follow from the choices.

# coset_build_type(): Release unless somebody says otherwise, and nothing that CMake has no flags for. Generators for several
# configurations have them all; None is what distributions build with flags of their own.
macro(coset_build_type)
  get_property(coset_is_multiple GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
  if(NOT coset_is_multiple)
    set(coset_build_types Release Debug RelWithDebInfo MinSizeRel None)
    if(NOT CMAKE_BUILD_TYPE)
      set(CMAKE_BUILD_TYPE Release CACHE STRING "One of: ${coset_build_types}" FORCE)
    endif()
    set_property(CACHE CMAKE_BUILD_TYPE PROPERTY STRINGS ${coset_build_types})
    string(TOUPPER "${CMAKE_BUILD_TYPE}" coset_configuration)
    string(TOUPPER "${coset_build_types}" coset_configurations)
    if(NOT coset_configuration IN_LIST coset_configurations AND NOT CMAKE_CXX_FLAGS_${coset_configuration})
      list(JOIN coset_build_types ", " coset_build_types)
      message(FATAL_ERROR "CMAKE_BUILD_TYPE is \"${CMAKE_BUILD_TYPE}\"; it takes one of: ${coset_build_types} (\"Release\" "
                          "unless set), or a name that CMAKE_CXX_FLAGS_${coset_configuration} gives flags to")
    endif()
  endif()
endmacro()

# A project that adds coset as a subdirectory has said what it wants, and gets nothing but the library.
if(PROJECT_IS_TOP_LEVEL)
  coset_build_type()
  option(BUILD_SHARED_LIBS "coset::coset and pkg-config's coset are the shared library" ON)
endif()
option(COSET_INSTALL "Have rules to install, and the target uninstall" ${PROJECT_IS_TOP_LEVEL})
option(COSET_BUILD_TOOLS "Build the coset command" ${PROJECT_IS_TOP_LEVEL})
option(COSET_LAB "Build what studies schedules: coset::study, and coset-lab, which the command starts to price, simulate,
  reproduce, generate, and to measure beside OpenMP and oneTBB where they are found" ${PROJECT_IS_TOP_LEVEL})
option(COSET_UNITY "Compile several files of the library as one: for builds that nobody edits in")
# What is not installed is for those who work on coset; their presets have all of it.
option(COSET_BUILD_TESTS "Build the tests")
option(COSET_BUILD_BENCHMARKS "Build the benchmarks, with all rivals (needs OpenMP, oneTBB, Google Benchmark)")
option(COSET_BUILD_EXAMPLES "Build the examples")
option(COSET_WERROR "Warnings are errors")

# coset_choice(NAME default choices… HELP text): a cache variable that takes its default or one of a few words.
function(coset_choice name default)
  cmake_parse_arguments(PARSE_ARGV 2 choice "" "HELP" "")
  set(words ${choice_UNPARSED_ARGUMENTS})
  set(${name} "${default}" CACHE STRING "${choice_HELP}")
  set_property(CACHE ${name} PROPERTY STRINGS "${words}")
  if(NOT "${${name}}" IN_LIST words AND NOT "${${name}}" STREQUAL "${default}")
    list(JOIN words ", " words)
    message(FATAL_ERROR "${name} is \"${${name}}\"; it takes one of: ${words} (\"${default}\" unless set)")
  endif()
endfunction()

coset_choice(COSET_SANITIZE "" address thread HELP "Sanitizers: address (with undefined) or thread")
coset_choice(COSET_KERNEL_TARGETS all all few HELP "Instruction sets to compile the kernels for: all, or few to save time")
coset_choice(COSET_MPI off off openmpi mpich HELP "The message-passing layer: off, openmpi or mpich")
coset_choice(COSET_FORTRAN auto auto on off HELP "The Fortran module: on, off, or auto: on where there is a compiler")
if(PROJECT_IS_TOP_LEVEL)
  coset_choice(COSET_PYTHON auto auto on off HELP "The Python module: on, off, or auto: on where pybind11 is installed")
else()
  coset_choice(COSET_PYTHON off auto on off HELP "The Python module: on, off, or auto: on where pybind11 is installed")
endif()
set(COSET_LIBRARY "" CACHE FILEPATH "A libcoset.a built from these sources, to build only what is around it")

if(COSET_SANITIZE)
  set(sanitizers_address address,undefined)
  set(sanitizers_thread thread)
  add_compile_options(-fsanitize=${sanitizers_${COSET_SANITIZE}} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${sanitizers_${COSET_SANITIZE}})
  # A hundred programs with the whole library and what debuggers want to know: a linker that takes a third of the time.
  find_program(COSET_LLD ld.lld)
  if(COSET_LLD AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    add_link_options(-fuse-ld=lld)
  endif()
endif()

# The one build whose library tests and fuzzers share: libFuzzer is clang's and wants AddressSanitizer beside it.
set(COSET_FUZZ OFF)
if(COSET_SANITIZE STREQUAL "address" AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(COSET_FUZZ ON)
endif()

# g++ collects its garbage from 128 MiB on, which is a twelfth of the time to compile our files, none of which takes 700.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

set(coset_test_warnings -Wall -Wextra -Wshadow $<$<BOOL:${COSET_WERROR}>:-Werror>)
# g++ 12 sees overlaps in `"text" + std::string` (its bug 105651), or bounds exceeded where headers are precompiled, and an
# overflow in fmt 9's parser that cannot happen.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  list(APPEND coset_test_warnings -Wno-restrict -Wno-array-bounds -Wno-stringop-overflow)
endif()

# coset_warnings(target): what every target of ours compiles with; tests do without the stricter two.
function(coset_warnings target)
  target_compile_options(${target} PRIVATE ${coset_test_warnings} -Wpedantic -Wconversion)
endfunction()

# Where the build optimises, what runs once per shape or less is compiled for size: it would be half of the library.
string(TOUPPER "${CMAKE_BUILD_TYPE}" coset_configuration)
string(REGEX MATCHALL "-O[^ ]*" coset_levels "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${coset_configuration}}")
list(POP_BACK coset_levels coset_level)
set(coset_for_size)
if(coset_level MATCHES "^-O[23]$")
  set(coset_for_size -Os)
endif()

# coset_precompile(target): what most files of ours include is read once. The preset clang does without, to see who forgets
# an include.
function(coset_precompile target)
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <chrono> <functional> <map> <memory> <mutex> <optional> <set> <string> <vector>
    <fmt/core.h> ${PROJECT_SOURCE_DIR}/include/coset/coset.hpp)
endfunction()

# coset_find_fortran(): enables the language and sets COSET_HAS_FORTRAN where modules are to be built. Sanitizers are
# left out: C++ and Fortran compilers of two vendors bring two runtimes of them. Builds around a library made elsewhere
# have only the module of processes: the other goes with the shared library.
macro(coset_find_fortran)
  set(COSET_HAS_FORTRAN OFF)
  if(COSET_SANITIZE OR (COSET_LIBRARY AND COSET_MPI STREQUAL "off"))
    if(COSET_FORTRAN STREQUAL "on")
      message(FATAL_ERROR "COSET_FORTRAN=on goes with neither COSET_SANITIZE=${COSET_SANITIZE} nor, without COSET_MPI, "
                          "COSET_LIBRARY=${COSET_LIBRARY}")
    endif()
  elseif(COSET_FORTRAN STREQUAL "on" OR (COSET_FORTRAN STREQUAL "auto" AND PROJECT_IS_TOP_LEVEL))
    if(NOT CMAKE_Fortran_COMPILER)
      unset(CMAKE_Fortran_COMPILER CACHE)  # one may have been installed since CMake last looked
    endif()
    include(CheckLanguage)
    check_language(Fortran)
    if(CMAKE_Fortran_COMPILER)
      enable_language(Fortran)
      set(COSET_HAS_FORTRAN ON)
    elseif(COSET_FORTRAN STREQUAL "on")
      message(FATAL_ERROR "COSET_FORTRAN=on: no Fortran compiler found")
    endif()
  endif()
endmacro()

# Module files, which are one compiler's, as GNU's are.
set(coset_modules_folder ${CMAKE_INSTALL_LIBDIR}/coset/fortran)

# What the command starts, apart from what people start.
set(coset_lab_folder ${CMAKE_INSTALL_LIBEXECDIR}/coset)

# coset_fortran_warnings(target): as coset_warnings(), for GNU's compiler. Equal reals are what coset promises, bodies
# cannot leave arguments without a name, and functions of status are in conditions. At -O0 descriptors of arrays look
# uninitialised.
function(coset_fortran_warnings target)
  if(CMAKE_Fortran_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:Fortran>:-std=f2018 -Wall -Wextra -Wimplicit-interface
      -pedantic -Wno-compare-reals -Wno-unused-dummy-argument -Wno-function-elimination -Wno-maybe-uninitialized
      $<$<BOOL:${COSET_WERROR}>:-Werror>>)
  endif()
endfunction()

# coset_rooms(folder…): adds each folder that has something to build.
macro(coset_rooms)
  foreach(room ${ARGN})
    if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${room}/CMakeLists.txt)
      add_subdirectory(${room})
    endif()
  endforeach()
endmacro()

# coset_install(TARGET words…): install(words…), of what this target makes. All such targets together are coset_installed: to
# build that is to build what the rules install, and nothing else.
add_custom_target(coset_installed)
function(coset_install target)
  install(${ARGN})
  add_dependencies(coset_installed ${target})
endfunction()

# coset_embed(target files…): each file as a string literal that the target's sources include, NAME.inc.
function(coset_embed target)
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/embedded)
  foreach(file ${ARGN})
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    cmake_path(GET file FILENAME name)
    file(READ ${file} text)
    file(CONFIGURE OUTPUT ${folder}/${name}.inc CONTENT "R\"part(@text@)part\"\n" @ONLY)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
  endforeach()
  target_include_directories(${target} PRIVATE ${folder})
endfunction()
