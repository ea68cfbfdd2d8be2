# SPDX-License-Identifier: Apache-2.0
# The library itself: compiled here, or taken as another build of the same sources has made it.

# coset_made_elsewhere(OUT name): a build around another build's library takes this static one, of the folder that asks,
# from there, too, unchanged, if the other build has made it: ./dev builds that first.
function(coset_made_elsewhere out name)
  set(${out} OFF PARENT_SCOPE)
  if(NOT COSET_LIBRARY)
    return()
  endif()
  cmake_path(GET COSET_LIBRARY PARENT_PATH other)
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE here)
  set(made ${other}/${here}/lib${name}.a)
  if(EXISTS ${made})
    add_library(${name} STATIC IMPORTED GLOBAL)
    set_target_properties(${name} PROPERTIES IMPORTED_LOCATION ${made} SYSTEM OFF)
    target_include_directories(${name} INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/src)
    target_link_libraries(${name} INTERFACE coset::static)
    set(${out} ON PARENT_SCOPE)
  endif()
endfunction()

# Several copies of coset may share a process: plugins with the static library, programs with the shared one. Where
# somebody's shared library uses coset, what headers define calls the copy that it is linked with, although another object
# of the process may export the same names; and as teams know functions and tables of those who call them, it stays loaded.
set(coset_for_shared_libraries -Bsymbolic-functions,-z,nodelete)
# coset_keep_to_itself(TARGET): a static library, of which shared libraries around it export nothing, whatever its file is
# called (CMAKE_DEBUG_POSTFIX).
function(coset_keep_to_itself target)
  target_link_options(${target} INTERFACE LINKER:--exclude-libs,$<TARGET_FILE_NAME:$<TARGET_NAME:${target}>>
    LINKER:${coset_for_shared_libraries})
endfunction()

# Before 1.0 each minor version is a binary interface of its own: see tests/abi.
set(interface_version ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
  string(APPEND interface_version .${PROJECT_VERSION_MINOR})
endif()

if(COSET_LIBRARY)
  if(NOT EXISTS ${COSET_LIBRARY})
    message(FATAL_ERROR "COSET_LIBRARY=${COSET_LIBRARY} does not exist; build it first, or leave the option empty")
  endif()
  add_library(coset::static STATIC IMPORTED GLOBAL)
  set_target_properties(coset::static PROPERTIES IMPORTED_LOCATION ${COSET_LIBRARY})
  if(PROJECT_IS_TOP_LEVEL)
    set_target_properties(coset::static PROPERTIES SYSTEM OFF)
  endif()
  target_compile_features(coset::static INTERFACE cxx_std_20)
  target_include_directories(coset::static INTERFACE ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(coset::static INTERFACE Threads::Threads PkgConfig::hwloc)
  coset_keep_to_itself(coset::static)
  add_library(coset::coset ALIAS coset::static)
  return()
endif()

# coset is the static library, into which tests and tools may look; coset_shared are the same objects with what the
# public headers declare as its interface. coset::coset is what BUILD_SHARED_LIBS says.
add_library(coset STATIC)
add_library(coset_shared SHARED $<TARGET_OBJECTS:coset>)
add_library(coset::static ALIAS coset)
add_library(coset::shared ALIAS coset_shared)
if(BUILD_SHARED_LIBS)
  add_library(coset::coset ALIAS coset_shared)
else()
  add_library(coset::coset ALIAS coset)
endif()
foreach(library coset coset_shared)
  target_compile_features(${library} PUBLIC cxx_std_20)
  target_include_directories(${library}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${library} PUBLIC Threads::Threads)
endforeach()
target_include_directories(coset PRIVATE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR})
coset_keep_to_itself(coset)
target_link_options(coset_shared PUBLIC LINKER:${coset_for_shared_libraries})
# Position-independent also when static, so that it can become part of somebody's shared library.
set_target_properties(coset PROPERTIES POSITION_INDEPENDENT_CODE ON
  CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON EXPORT_NAME static)
set_target_properties(coset_shared PROPERTIES OUTPUT_NAME coset EXPORT_NAME shared LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${interface_version}
  LINK_DEPENDS ${PROJECT_SOURCE_DIR}/src/bindings/c/coset.map)
target_link_options(coset_shared PRIVATE LINKER:--version-script=${PROJECT_SOURCE_DIR}/src/bindings/c/coset.map)
target_link_libraries(coset_shared PRIVATE PkgConfig::hwloc)
# The shared library leaves out what its interface does not reach.
target_compile_options(coset PRIVATE -ffunction-sections -fdata-sections)
target_link_options(coset_shared PRIVATE LINKER:--gc-sections)
# The tables of folds are thousands of addresses, and each takes 24 bytes of relocation in the older of two forms.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <features.h>
  #if !__GLIBC_PREREQ(2, 36) || !defined(__x86_64__)
  #error
  #endif
  int main() {}" COSET_HAS_RELATIVE_RELOCATIONS)
if(COSET_HAS_RELATIVE_RELOCATIONS)
  target_link_options(coset_shared PRIVATE LINKER:-z,pack-relative-relocs)
endif()
# A product and a sum are two roundings, on every processor and under every option: the bits of results and choices
# follow from it.
target_compile_options(coset PRIVATE -ffp-contract=off)
coset_warnings(coset)
coset_precompile(coset)
if(NOT PROJECT_IS_TOP_LEVEL)
  # Others compile with warnings of their choice, and build what they link.
  set_target_properties(coset coset_shared PROPERTIES SYSTEM ON)
  if(NOT BUILD_SHARED_LIBS AND NOT COSET_INSTALL)
    set_target_properties(coset_shared PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endif()
# A third of the time, but what one file hides another sees, and a change compiles eight.
if(COSET_UNITY)
  set_target_properties(coset PROPERTIES UNITY_BUILD ON)
  target_compile_options(coset PRIVATE -Wno-shadow)
endif()

coset_rooms(src/base/environment src/base/text numa
  src/planning/schedule src/planning/program src/planning/calibration src/planning/choice src/planning/plan
  src/runtime/kernels src/runtime/trace src/runtime src/runtime/calls src/team src/reducer src/reducer/updates src/bindings/c)
# What every call passes through, and the loops in which large schedules spend their time, is optimised as the build says.
# All else chooses and makes plans, reads files and reports.
target_compile_options(coset PRIVATE ${coset_for_size})
if(coset_for_size)
  get_target_property(passed_through coset SOURCES)
  string(JOIN "|" names
    "/src/(runtime/kernels|runtime/calls|reducer|bindings/c)/.*" "/src/runtime/[a-z_]+" "/runtime/repeated/.*" "/memory/waiting" "/plan/(rank_plans|signature)"
    "/team/task_run")
  list(FILTER passed_through INCLUDE REGEX "(${names})[.]cpp$")
  # Between processes it is messages that take the time, and elements go through the kernels. The others make what is kept.
  list(FILTER passed_through EXCLUDE REGEX "/(kernels/kernels|rank_state|lost|recording|by_messages|exchange|segments|shared_fold|use_staging|c/(teams|reducers|plans|operations|status)|reducer/(pool|cap|memory|owned_copy|sparse/(log|way)|processes/[a-z]+|updates/[a-z]+))[.]cpp$")
  set_property(SOURCE ${passed_through} APPEND PROPERTY COMPILE_OPTIONS ${coset_level})
  # Loops over large schedules and over many values at once: without what -O3 adds, which is size.
  get_target_property(large coset SOURCES)
  list(FILTER large INCLUDE REGEX "/(reducer/(core|arrivals|threads|folding)|updates/sample|calls/joint|bindings/c/(verbs|arguments)|plan/signature|choice/learner|runtime/learning)[.]cpp$")
  set_property(SOURCE ${large} APPEND PROPERTY COMPILE_OPTIONS -O2)
  # Loops over vectors that callers of C name by numbers: all that -O3 gains beside is copies of loops.
  set_property(SOURCE src/bindings/c/tables.cpp APPEND PROPERTY COMPILE_OPTIONS -O2 -ftree-vectorize $<$<CXX_COMPILER_ID:GNU>:-fvect-cost-model=dynamic>)
  set_source_files_properties(${passed_through} ${large} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endif()
# What reads foreign text.
get_target_property(readers coset SOURCES)
list(FILTER readers INCLUDE REGEX
  "/(numa/topology|(registry/(algorithm|named_[a-z]+))|model/tree_file|files/plan_file|profile|plan_text|settings|text/(fields|json))[.]cpp$")
# Sanitizers compile it file by file, so that they all have the same files together.
set_source_files_properties(${readers} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
if(COSET_FUZZ)
  # The rest would only be slower, to compile and under the tests. What was precompiled without the option cannot be read
  # with it.
  set_source_files_properties(${readers} PROPERTIES COMPILE_OPTIONS -fsanitize=fuzzer-no-link
    SKIP_PRECOMPILE_HEADERS ON)
endif()
