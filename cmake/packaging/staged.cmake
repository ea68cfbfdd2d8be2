# SPDX-License-Identifier: Apache-2.0
# cpack runs it once all files of a package are in place: adds what Debian wants in each of them.
foreach(component ${CPACK_COMPONENTS_ALL})
  string(TOUPPER ${component} upper)
  set(stage ${CPACK_TEMPORARY_DIRECTORY}/${component})
  set(name ${CPACK_DEBIAN_${upper}_PACKAGE_NAME})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/debian/copyright ${stage}/usr/share/doc/${name}/copyright COPYONLY)
  file(GLOB pages ${stage}/usr/share/man/man1/*.1)
  if(pages)
    execute_process(COMMAND gzip -9n ${pages} COMMAND_ERROR_IS_FATAL ANY)
  endif()
endforeach()
