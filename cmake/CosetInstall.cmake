# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, library, find_package(coset) and pkg-config's coset.pc.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/coset)

install(TARGETS coset EXPORT coset_targets)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coset TYPE INCLUDE)
install(EXPORT coset_targets NAMESPACE coset:: DESTINATION ${package_folder})

configure_package_config_file(cmake/cosetConfig.cmake.in ${PROJECT_BINARY_DIR}/cosetConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cosetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cosetConfig.cmake ${PROJECT_BINARY_DIR}/cosetConfigVersion.cmake
  DESTINATION ${package_folder})

# A static library's users link what it links; a shared one's do not.
set(requires_field Requires)
if(BUILD_SHARED_LIBS)
  set(requires_field Requires.private)
endif()
file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/coset.pc.in ${PROJECT_BINARY_DIR}/coset.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/coset.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
