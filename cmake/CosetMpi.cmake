# SPDX-License-Identifier: Apache-2.0
# The one way in which a build finds an MPI: by name, never whichever is the default.
set(coset_package_of_openmpi ompi-c)
set(coset_package_of_mpich mpich)

# Where what is of this MPI is installed.
set(coset_mpi_folder ${CMAKE_INSTALL_LIBDIR}/coset/${COSET_MPI})
# libcoset_preload.so and, beside it, what it has for each MPI.
set(coset_preload_folder ${CMAKE_INSTALL_LIBDIR}/coset)

# coset_find_mpi(TARGET LAUNCHER name…): the first of the MPIs named that is installed, as an imported target, and its
# mpiexec. Both are empty where none is.
function(coset_find_mpi target launcher)
  set(${target} "" PARENT_SCOPE)
  set(${launcher} "" PARENT_SCOPE)
  foreach(name ${ARGN})
    pkg_check_modules(${name} QUIET IMPORTED_TARGET GLOBAL ${coset_package_of_${name}})
    find_program(COSET_MPIEXEC_${name} NAMES mpiexec.${name} mpiexec HINTS ${${name}_PREFIX}/bin)
    mark_as_advanced(COSET_MPIEXEC_${name})
    if(${name}_FOUND AND COSET_MPIEXEC_${name})
      # The C++ bindings that MPI no longer has would be one more library to link.
      set_property(TARGET PkgConfig::${name} PROPERTY
        INTERFACE_COMPILE_DEFINITIONS OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
      set(${target} PkgConfig::${name} PARENT_SCOPE)
      set(${launcher} ${COSET_MPIEXEC_${name}} PARENT_SCOPE)
      return()
    endif()
  endforeach()
endfunction()

# coset_soname_of(OUT TARGET): by which programs name the shared library of the MPI that coset_find_mpi() found.
function(coset_soname_of out target)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  foreach(library ${libraries})
    if(library MATCHES "/libmpi[^/]*[.]so")
      execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${library} OUTPUT_VARIABLE headers COMMAND_ERROR_IS_FATAL ANY)
      if(headers MATCHES "SONAME +([^\n]+)")
        set(${out} ${CMAKE_MATCH_1} PARENT_SCOPE)
        return()
      endif()
    endif()
  endforeach()
  message(FATAL_ERROR "${target} has no shared library of MPI among: ${libraries}")
endfunction()
