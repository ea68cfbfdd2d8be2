# SPDX-License-Identifier: Apache-2.0
# cmake --install: headers, libraries, find_package(coset), pkg-config's files, the command with its pages, documents. Each
# rule says of which component it is, as packages take them: runtime, development, fortran, python, tools, lab, documentation, and
# preload, openmpi_runtime and openmpi_development of a build with COSET_MPI=openmpi. What has to be built for a rule is installed by
# coset_install(), so that the target coset_installed builds it.
include(CMakePackageConfigHelpers)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/coset)

file(RELATIVE_PATH pkgconfig_to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
# coset_pkgconfig(NAME COMPONENT REQUIRES LIBRARY [flag…] [PRIVATE flag…]): a .pc file that links the library so, and so with
# --static.
function(coset_pkgconfig name component requires library)
  cmake_parse_arguments(PARSE_ARGV 4 parsed "" "" "PRIVATE")
  # As the target has it.
  if(library MATCHES "lib(coset[a-z_]*)[.]a")
    string(PREPEND library "-Wl,--exclude-libs,${CMAKE_MATCH_0} -Wl,${coset_for_shared_libraries} ")
  elseif(name MATCHES "-shared$")
    string(PREPEND library "-Wl,${coset_for_shared_libraries} ")
  endif()
  list(JOIN parsed_UNPARSED_ARGUMENTS " " flags)
  list(JOIN parsed_PRIVATE " " private)
  configure_file(cmake/coset.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endfunction()

# coset_install_library(TARGET NAME COMPONENT FOLDER): a static library, and the targets file that find_package(coset) reads
# of it.
function(coset_install_library target name component folder)
  coset_install(${target} TARGETS ${target} EXPORT coset_${name}_targets ARCHIVE DESTINATION ${folder} COMPONENT ${component})
  install(EXPORT coset_${name}_targets NAMESPACE coset:: DESTINATION ${package_folder} COMPONENT ${component})
endfunction()

# coset_install_modules(TARGET COMPONENT FOLDER): the module files that programs read.
function(coset_install_modules target component folder)
  coset_install(${target} DIRECTORY $<TARGET_PROPERTY:${target},Fortran_MODULE_DIRECTORY>/ DESTINATION ${folder}
                COMPONENT ${component} FILES_MATCHING PATTERN "*.mod")
endfunction()

if(PROJECT_IS_TOP_LEVEL)
  add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -DBUILD=${PROJECT_BINARY_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
    VERBATIM COMMENT "Removing what this build has installed")
endif()

# Libraries for several MPIs can be installed together, each in the folder of its MPI.
if(TARGET coset_mpi)
  coset_install_library(coset_mpi ${COSET_MPI} ${COSET_MPI}_development ${coset_mpi_folder})
  # With the name that linkers take, as old lines of LD_PRELOAD have it, too.
  coset_install(coset_mpi_shared TARGETS coset_mpi_shared EXPORT coset_${COSET_MPI}_shared_targets
                LIBRARY DESTINATION ${coset_mpi_folder} COMPONENT ${COSET_MPI}_runtime)
  install(EXPORT coset_${COSET_MPI}_shared_targets NAMESPACE coset:: DESTINATION ${package_folder}
          COMPONENT ${COSET_MPI}_development)
  # Not where linkers look, as it is to be preloaded. What is of no MPI is the same in each build, and of a component of its own.
  coset_install(coset_interpose TARGETS coset_interpose LIBRARY DESTINATION ${coset_preload_folder} COMPONENT ${COSET_MPI}_runtime)
  coset_install(coset_preload TARGETS coset_preload LIBRARY DESTINATION ${coset_preload_folder} COMPONENT preload)
  set(coset_package_of_wanted ${coset_package_of_${COSET_MPI}})
  configure_file(cmake/coset_mpi.cmake.in ${PROJECT_BINARY_DIR}/coset_${COSET_MPI}.cmake @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/coset_${COSET_MPI}.cmake DESTINATION ${package_folder} COMPONENT ${COSET_MPI}_development)
  coset_pkgconfig(coset-${COSET_MPI} ${COSET_MPI}_development "coset-static, ${coset_package_of_wanted}"
    "\${prefix}/${coset_mpi_folder}/libcoset_mpi.a" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
  coset_pkgconfig(coset-${COSET_MPI}-shared ${COSET_MPI}_development "${coset_package_of_wanted}"
    "-L\${prefix}/${coset_mpi_folder} -Wl,-rpath,\${prefix}/${coset_mpi_folder} -lcoset_mpi" -DOMPI_SKIP_MPICXX -DMPICH_SKIP_MPICXX)
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
coset_install(coset_shared TARGETS coset_shared EXPORT coset_shared_targets
              LIBRARY COMPONENT runtime NAMELINK_COMPONENT development)
install(EXPORT coset_shared_targets NAMESPACE coset:: DESTINATION ${package_folder} COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coset TYPE INCLUDE COMPONENT development PATTERN study EXCLUDE)

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
# Flags, as a requirement of hwloc would with --static link what hwloc's own static library takes: libudev, which Debian's
# libhwloc-dev does not bring along.
set(beneath ${hwloc_LDFLAGS} -lhwloc)
list(TRANSFORM cxx_runtime PREPEND -l)
list(APPEND beneath ${cxx_runtime})
list(TRANSFORM CMAKE_CXX_IMPLICIT_LINK_DIRECTORIES PREPEND -L OUTPUT_VARIABLE known_to_linkers)
list(REMOVE_ITEM beneath ${known_to_linkers})
list(REMOVE_DUPLICATES beneath)
list(JOIN beneath " " beneath_in_words)
coset_pkgconfig(coset development coset-${library_of_choice} "")
coset_pkgconfig(coset-shared development "" "-L\${libdir} -lcoset" PRIVATE ${beneath})
coset_pkgconfig(coset-static development "" "\${libdir}/libcoset.a ${beneath_in_words}")

if(COSET_HAS_FORTRAN)
  coset_install_library(coset_fortran fortran fortran ${CMAKE_INSTALL_LIBDIR})
  coset_install_modules(coset_fortran fortran ${coset_modules_folder})
  coset_pkgconfig(coset-fortran fortran coset-shared "-L\${libdir} -lcoset_fortran" "-I\${prefix}/${coset_modules_folder}")
endif()

# What people study schedules with: the program that the command starts, and a library, static and shared, with its header.
if(TARGET coset_study_shared AND PROJECT_IS_TOP_LEVEL)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/coset/study DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/coset COMPONENT lab)
  coset_install(coset_study TARGETS coset_study EXPORT coset_study_static_targets ARCHIVE COMPONENT lab)
  coset_install(coset_study_shared TARGETS coset_study_shared EXPORT coset_study_shared_targets LIBRARY COMPONENT lab)
  foreach(kind static shared)
    install(EXPORT coset_study_${kind}_targets NAMESPACE coset:: DESTINATION ${package_folder} COMPONENT lab)
  endforeach()
  coset_pkgconfig(coset-study lab "" "-L\${libdir} -lcoset_study")
endif()
if(TARGET coset_lab_cli)
  coset_install(coset_lab_cli TARGETS coset_lab_cli RUNTIME DESTINATION ${coset_lab_folder} COMPONENT lab)
endif()

if(TARGET coset_python)
  # Debian's Python looks for its packages' modules, which are below /usr, in one folder for all its versions.
  install(CODE "set(coset_python_folder \"${COSET_PYTHON_FOLDER}\")
    if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
      string(REGEX REPLACE \"/python3[.][0-9]+/dist-\" \"/python3/dist-\" coset_python_folder \"\${coset_python_folder}\")
    endif()" COMPONENT python)
  coset_install(coset_python TARGETS coset_python LIBRARY DESTINATION "\${coset_python_folder}" COMPONENT python)
endif()

if(TARGET coset_cli)
  coset_install(coset_cli TARGETS coset_cli RUNTIME COMPONENT tools)
  install(FILES ${PROJECT_SOURCE_DIR}/docs/coset.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endif()

install(FILES ${PROJECT_SOURCE_DIR}/src/runtime/failure/coset.py DESTINATION ${CMAKE_INSTALL_DATADIR}/gdb COMPONENT development)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/README.md
  DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT documentation)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
  COMPONENT documentation PATTERN CMakeLists.txt EXCLUDE PATTERN site EXCLUDE PATTERN "*.1" EXCLUDE)
install(CODE "set(documents \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DOCDIR}\")" COMPONENT documentation)
install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/installed_links.cmake COMPONENT documentation)
