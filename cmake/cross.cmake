# SPDX-License-Identifier: Apache-2.0
# A toolchain file: Debian's cross compiler for the processor COSET_CROSS. aarch64 has libraries, which tests/cross/sysroot
# fetches, and qemu-user runs what is built. Of others, which Debian 12 has no libraries for or rarely serves, coset itself
# compiles: with the headers of this machine's libraries. ./dev test --arm --long builds all.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${COSET_CROSS})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES COSET_CROSS)

set(coset_triplet ${COSET_CROSS}-linux-gnu)
if(COSET_CROSS STREQUAL "ppc64le")
  set(coset_triplet powerpc64le-linux-gnu)
endif()
set(CMAKE_C_COMPILER ${coset_triplet}-gcc)
set(CMAKE_CXX_COMPILER ${coset_triplet}-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)

if(COSET_CROSS STREQUAL "aarch64")
  if(DEFINED ENV{XDG_CACHE_HOME})
    set(CMAKE_SYSROOT $ENV{XDG_CACHE_HOME}/coset/sysroot-arm64)
  else()
    set(CMAKE_SYSROOT $ENV{HOME}/.cache/coset/sysroot-arm64)
  endif()
  set(CMAKE_LIBRARY_ARCHITECTURE ${coset_triplet})
  set(CMAKE_Fortran_COMPILER ${coset_triplet}-gfortran)
  # What a program finds in its environment is for those that it starts: see tests/cross/emulated.cpp. By its path, as some
  # tests leave nothing to be found.
  find_program(COSET_EMULATOR qemu-${COSET_CROSS} REQUIRED)
  set(CMAKE_CROSSCOMPILING_EMULATOR ${COSET_EMULATOR} -L ${CMAKE_SYSROOT}
      -E TEST_EMULATOR=${COSET_EMULATOR} -E QEMU_LD_PREFIX=${CMAKE_SYSROOT})
  foreach(what LIBRARY INCLUDE PACKAGE)
    set(CMAKE_FIND_ROOT_PATH_MODE_${what} ONLY)
  endforeach()
  set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
  set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/${coset_triplet}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
else()
  set(coset_host_triplet ${CMAKE_HOST_SYSTEM_PROCESSOR}-linux-gnu)
  set(CMAKE_CXX_FLAGS_INIT "-idirafter /usr/include -idirafter /usr/include/${coset_host_triplet}")
  foreach(package hwy fmt)
    set(${package}_DIR /usr/lib/${coset_host_triplet}/cmake/${package})
  endforeach()
endif()
