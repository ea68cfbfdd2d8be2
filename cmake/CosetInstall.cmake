# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, libraries, find_package(coset), pkg-config's files, the command with its pages, documents. Each
# rule says of which component it is, as packages take them: runtime, development, fortran, tools, documentation, and
# openmpi_runtime and openmpi_development of a build with COSET_MPI=openmpi.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/coset)

file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# coset_pkgconfig(NAME COMPONENT REQUIRES LIBRARY [flag…]): a .pc file that links the library so.
function(coset_pkgconfig name component requires library)
  list(JOIN ARGN " " flags)
  configure_file(cmake/coset.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()

# coset_install_library(TARGET NAME COMPONENT FOLDER): a static library, and the targets file that find_package(coset) reads
# of it.
function(coset_install_library target name component folder)
  install(TARGETS ${target} EXPORT coset_${name}_targets ARCHIVE DESTINATION ${folder} COMPONENT ${component})
  install(EXPORT coset_${name}_targets NAMESPACE coset:: DESTINATION ${package_folder} COMPONENT ${component})
endfunction()

# coset_install_modules(TARGET COMPONENT FOLDER): the module files that programs read.
function(coset_install_modules target component folder)
  install(DIRECTORY $<TARGET_PROPERTY:${target},Fortran_MODULE_DIRECTORY>/ DESTINATION ${folder}
          COMPONENT ${component} FILES_MATCHING PATTERN "*.mod")
endfunction()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
    VERBATIM COMMENT "Removing what this build has installed")
endif()

# Libraries for several MPIs can be installed together, each in the folder of its MPI.
if(TARGET coset_mpi)
  coset_install_library(coset_mpi ${COSET_MPI} ${COSET_MPI}_development ${coset_mpi_folder})
  # Not where linkers look: it is to be preloaded, and named as MPI's own library is there.
  install(TARGETS coset_interpose LIBRARY DESTINATION ${coset_mpi_folder} COMPONENT ${COSET_MPI}_runtime)
  set(coset_package_of_wanted ${coset_package_of_${COSET_MPI}})
  configure_file(cmake/coset_mpi.cmake.in ${PROJECT_BINARY_DIR}/coset_${COSET_MPI}.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/coset_${COSET_MPI}.cmake DESTINATION ${package_folder} COMPONENT ${COSET_MPI}_development)
  coset_pkgconfig(coset-${COSET_MPI} ${COSET_MPI}_development "coset-static, ${coset_package_of_wanted}"
    "\${prefix}/${coset_mpi_folder}/libcoset_mpi.a" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
endif()
if(TARGET coset_mpi_fortran)
  coset_install_library(coset_mpi_fortran ${COSET_MPI}_fortran ${COSET_MPI}_development ${coset_mpi_folder})
  coset_install_modules(coset_mpi_fortran ${COSET_MPI}_development ${coset_mpi_folder}/fortran)
  coset_pkgconfig(coset-${COSET_MPI}-fortran ${COSET_MPI}_development coset-${COSET_MPI}
    "\${prefix}/${coset_mpi_folder}/libcoset_mpi_fortran.a" "-I\${prefix}/${coset_mpi_folder}/fortran")
endif()
# All else comes from the build that made the library.
if(COSET_LIBRARY)
  return()
endif()

# Apart, because only the static library's users need what it links.
coset_install_library(coset static development ${CMAKE_INSTALL_LIBDIR})
install(TARGETS coset_shared EXPORT coset_shared_targets
  LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(EXPORT coset_shared_targets NAMESPACE coset:: DESTINATION ${package_folder} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coset TYPE INCLUDE COMPONENT development)

set(library_of_choice static)
if(BUILD_SHARED_LIBS)
  set(library_of_choice shared)
endif()
# Programs in C and Fortran link the static library, too, by their own compilers.
set(cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER cxx_runtime INCLUDE REGEX "c\\+\\+|^m$")
list(REMOVE_DUPLICATES cxx_runtime)
configure_package_config_file(cmake/cosetConfig.cmake.in ${PROJECT_BINARY_DIR}/cosetConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cosetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cosetConfig.cmake ${PROJECT_BINARY_DIR}/cosetConfigVersion.cmake
  DESTINATION ${package_folder} COMPONENT development)
list(TRANSFORM cxx_runtime PREPEND -l)
list(JOIN cxx_runtime " " cxx_runtime)
coset_pkgconfig(coset development coset-${library_of_choice} "")
coset_pkgconfig(coset-shared development "" "-L\${libdir} -lcoset")
coset_pkgconfig(coset-static development "hwloc, libhwy" "\${libdir}/libcoset.a ${cxx_runtime}")

if(COSET_HAS_FORTRAN)
  coset_install_library(coset_fortran fortran fortran ${CMAKE_INSTALL_LIBDIR})
  coset_install_modules(coset_fortran fortran ${coset_modules_folder})
  coset_pkgconfig(coset-fortran fortran coset-shared "-L\${libdir} -lcoset_fortran" "-I\${prefix}/${coset_modules_folder}")
endif()

# What people look at: each library beside the one of its kind.
if(PROJECT_IS_TOP_LEVEL)
  install(TARGETS coset_study EXPORT coset_static_targets ARCHIVE COMPONENT development)
  install(TARGETS coset_study_shared EXPORT coset_shared_targets LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
  coset_pkgconfig(coset-study development "" "-L\${libdir} -lcoset_study")
endif()

if(TARGET coset_cli)
  install(TARGETS coset_cli RUNTIME COMPONENT tools)
  if(TARGET coset_measure_cli)
    install(TARGETS coset_measure_cli RUNTIME DESTINATION ${coset_measure_folder} COMPONENT tools)
  endif()
  install(FILES ${PROJECT_SOURCE_DIR}/docs/coset.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()

install(FILES ${PROJECT_SOURCE_DIR}/src/runtime/failure/coset.py DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation PATTERN CMakeLists.txt EXCLUDE PATTERN site EXCLUDE PATTERN "*.1" EXCLUDE)
