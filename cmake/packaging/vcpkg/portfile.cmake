# SPDX-License-Identifier: Apache-2.0
# vcpkg's recipe, an overlay port: vcpkg install coset --overlay-ports=cmake/packaging. NOT RUN: vcpkg was not at hand; the
# options are those of CMakeLists.txt, which the tests do run. The library alone: vcpkg has neither the command's rivals nor
# an MPI that the system does not have.
cmake_path(SET SOURCE_PATH NORMALIZE "${CMAKE_CURRENT_LIST_DIR}/../../..")

vcpkg_cmake_configure(SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS -DCOSET_BUILD_TOOLS=OFF -DCOSET_LAB=OFF -DCOSET_FORTRAN=off -DCOSET_PYTHON=off -DCOSET_MPI=off)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/coset)
vcpkg_fixup_pkgconfig()
file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share"
  "${CURRENT_PACKAGES_DIR}/share/doc")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
