# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, the libraries, find_package(coset), and pkg-config's files for each.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/coset)

file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# coset_pkgconfig(NAME REQUIRES LIBRARY [flag…]): a .pc file that links the library so.
function(coset_pkgconfig name requires library)
  list(JOIN ARGN " " flags)
  configure_file(cmake/coset.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# coset_install_modules(target): the module files that programs read.
function(coset_install_modules target)
  install(DIRECTORY $<TARGET_PROPERTY:${target},Fortran_MODULE_DIRECTORY>/ DESTINATION ${coset_modules_folder}
          FILES_MATCHING PATTERN "*.mod")
endfunction()

if(TARGET coset_mpi)
  install(TARGETS coset_mpi EXPORT coset_mpi_targets)
  # Not where linkers look: it is to be preloaded, and named as MPI's own library is there.
  install(TARGETS coset_interpose LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/coset)
  install(EXPORT coset_mpi_targets NAMESPACE coset:: DESTINATION ${package_folder})
  set(coset_package_of_wanted ${coset_package_of_${COSET_MPI}})
  configure_file(cmake/coset_mpi.cmake.in ${PROJECT_BINARY_DIR}/coset_mpi.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/coset_mpi.cmake DESTINATION ${package_folder})
  coset_pkgconfig(coset-mpi "coset-static, ${coset_package_of_wanted}" "\${libdir}/libcoset_mpi.a"
    -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
endif()
if(TARGET coset_mpi_fortran)
  install(TARGETS coset_mpi_fortran EXPORT coset_mpi_fortran_targets)
  install(EXPORT coset_mpi_fortran_targets NAMESPACE coset:: DESTINATION ${package_folder})
  coset_install_modules(coset_mpi_fortran)
  coset_pkgconfig(coset-mpi-fortran coset-mpi "\${libdir}/libcoset_mpi_fortran.a"
    "-I\${prefix}/${coset_modules_folder}")
endif()
# All else comes from the build that made the library.
if(COSET_LIBRARY)
  return()
endif()

# Apart, because only the static library's users need what it links.
install(TARGETS coset EXPORT coset_static_targets)
install(TARGETS coset_shared EXPORT coset_shared_targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coset TYPE INCLUDE)
set(libraries static shared)
if(COSET_HAS_FORTRAN)
  install(TARGETS coset_fortran EXPORT coset_fortran_targets)
  coset_install_modules(coset_fortran)
  list(APPEND libraries fortran)
endif()
foreach(library ${libraries})
  install(EXPORT coset_${library}_targets NAMESPACE coset:: DESTINATION ${package_folder})
endforeach()

set(library_of_choice static)
if(BUILD_SHARED_LIBS)
  set(library_of_choice shared)
endif()
configure_package_config_file(cmake/cosetConfig.cmake.in ${PROJECT_BINARY_DIR}/cosetConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cosetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cosetConfig.cmake ${PROJECT_BINARY_DIR}/cosetConfigVersion.cmake
  DESTINATION ${package_folder})
coset_pkgconfig(coset "" "-L\${libdir} -lcoset")
# Programs in C and Fortran link it too, by their own compilers.
set(cxx_runtime ${CMAKE_CXX_IMPLICIT_LINK_LIBRARIES})
list(FILTER cxx_runtime INCLUDE REGEX "c\\+\\+|^m$")
list(REMOVE_DUPLICATES cxx_runtime)
list(TRANSFORM cxx_runtime PREPEND -l)
list(JOIN cxx_runtime " " cxx_runtime)
coset_pkgconfig(coset-static "hwloc, libhwy" "\${libdir}/libcoset.a ${cxx_runtime}")
if(COSET_HAS_FORTRAN)
  coset_pkgconfig(coset-fortran "" "-L\${libdir} -lcoset_fortran -lcoset" "-I\${prefix}/${coset_modules_folder}")
endif()
# What people look at: the static library beside the static one, the shared one beside the shared one.
if(PROJECT_IS_TOP_LEVEL)
  install(TARGETS coset_study EXPORT coset_static_targets)
  install(TARGETS coset_study_shared EXPORT coset_shared_targets)
  coset_pkgconfig(coset-study "" "-L\${libdir} -lcoset_study")
endif()
