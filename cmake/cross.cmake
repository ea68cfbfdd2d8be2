# SPDX-License-Identifier: Apache-2.0
# A toolchain file: Debian's cross compiler for COSET_CROSS (aarch64), the libraries that tests/cross/sysroot fetches, and
# qemu-user to run what is built, as the processor COSET_CROSS_PROCESSOR. ./dev test --arm names them.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${COSET_CROSS})
set(CMAKE_TRY_COMPILE_PLATFORM_VARIABLES COSET_CROSS)

set(coset_debian_name_aarch64 arm64)
if(DEFINED ENV{XDG_CACHE_HOME})
  set(CMAKE_SYSROOT $ENV{XDG_CACHE_HOME})
else()
  set(CMAKE_SYSROOT $ENV{HOME}/.cache)
endif()
string(APPEND CMAKE_SYSROOT /coset/sysroot-${coset_debian_name_${COSET_CROSS}})

set(coset_triplet ${COSET_CROSS}-linux-gnu)
set(CMAKE_LIBRARY_ARCHITECTURE ${coset_triplet})
set(CMAKE_C_COMPILER ${coset_triplet}-gcc)
set(CMAKE_CXX_COMPILER ${coset_triplet}-g++)
set(CMAKE_Fortran_COMPILER ${coset_triplet}-gfortran)
set(CMAKE_CROSSCOMPILING_EMULATOR qemu-${COSET_CROSS} -L ${CMAKE_SYSROOT})

set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})
set(ENV{PKG_CONFIG_LIBDIR} ${CMAKE_SYSROOT}/usr/lib/${coset_triplet}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
