# SPDX-License-Identifier: Apache-2.0
# cmake --install runs it once the documents are in the folder `documents`: a link to what only the sources have becomes
# its words, so that no link there is dead. tests/documents/links.py says whether any is left.
set(folder $ENV{DESTDIR}${documents})
file(GLOB_RECURSE pages ${folder}/*.md)
foreach(page ${pages})
  cmake_path(GET page PARENT_PATH here)
  file(READ ${page} text)
  # Brackets would keep CMake's lists together, and links to anything but a path lead nowhere else.
  string(REPLACE "](" "\n<" links "${text}")
  string(REGEX MATCHALL "\n<[A-Za-z0-9_.-]*/[A-Za-z0-9_./-]+[#)]" links "${links}")
  list(REMOVE_DUPLICATES links)
  set(changed "${text}")
  foreach(link ${links})
    string(REGEX REPLACE "\n<(.*)[#)]" "\\1" link "${link}")
    if(NOT EXISTS ${here}/${link})
      string(REGEX REPLACE "([.+])" "\\\\\\1" link "${link}")
      string(REGEX REPLACE "\\[([^][]+)\\]\\(${link}(#[^)]*)?\\)" "\\1" changed "${changed}")
    endif()
  endforeach()
  if(NOT changed STREQUAL text)
    file(WRITE ${page} "${changed}")
  endif()
endforeach()
