# SPDX-License-Identifier: Apache-2.0
# cmake -DSOURCE=… -DOUTPUT=… -P commit.cmake: the commit that is built, as a header that changes only if that does.
cmake_minimum_required(VERSION 3.25)
execute_process(COMMAND git -C ${SOURCE} describe --always --dirty --abbrev=12 OUTPUT_VARIABLE commit
                OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit)
  set(commit unknown)
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "inline constexpr char commit[] = \"@commit@\";\n" @ONLY)
