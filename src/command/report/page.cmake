# SPDX-License-Identifier: Apache-2.0
# What the report's page consists of becomes string literals, and facts.cpp learns what it was compiled with.
set(embedded ${CMAKE_CURRENT_BINARY_DIR}/embedded)
set(page_parts page/page.html page/page.css page/parts.js page/machine.js page/chart.js page/figures.js page/page.js
               uplot/uPlot.min.css uplot/uPlot.iife.min.js uplot/LICENSE)
list(TRANSFORM page_parts PREPEND report/)
coset_embed(coset_measure_cli ${page_parts})

add_custom_target(coset_commit BYPRODUCTS ${embedded}/commit.hpp VERBATIM
  COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${embedded}/commit.hpp
          -P ${CMAKE_CURRENT_SOURCE_DIR}/report/commit.cmake)
add_dependencies(coset_measure_cli coset_commit)
string(TOUPPER "${CMAKE_BUILD_TYPE}" kind)
string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${kind}}" flags)
# Where it was built is no fact of the measurement, and would make builds in different folders differ.
string(REGEX REPLACE "-f[a-z-]+-prefix-map=[^ ]* ?" "" flags "${flags}")
file(CONFIGURE OUTPUT ${embedded}/flags.hpp CONTENT "inline constexpr char flags[] = R\"flags(@flags@)flags\";\n" @ONLY)
set_source_files_properties(report/facts.cpp report/page.cpp PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
