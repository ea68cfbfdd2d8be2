# SPDX-License-Identifier: Apache-2.0
# facts.cpp learns what it was compiled with.
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded)
target_include_directories(coset_commands PRIVATE ${embedded})
# Once at configure, for who reads sources without building, and anew at each build.
execute_process(COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${embedded}/commit.hpp
                        -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/commit.cmake)
add_custom_target(coset_commit BYPRODUCTS ${embedded}/commit.hpp VERBATIM
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${embedded}/commit.hpp
          -P ${CMAKE_CURRENT_SOURCE_DIR}/bench/commit.cmake)
add_dependencies(coset_commands coset_commit)
string(TOUPPER "${CMAKE_BUILD_TYPE}" kind)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${kind}}" flags)
# Where it was built is no fact of the measurement, and would make builds in different folders differ.
string(REGEX REPLACE "-f[a-z-]+-prefix-map=[^ ]* ?" "" flags "${flags}")
file(CONFIGURE OUTPUT ${embedded}/flags.hpp CONTENT "inline constexpr char flags[] = R\"flags(@flags@)flags\";\n" @ONLY)
set_source_files_properties(bench/facts.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
