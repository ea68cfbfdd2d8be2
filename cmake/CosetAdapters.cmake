# SPDX-License-Identifier: Apache-2.0
# coset::openmp and coset::tbb: coset::coset and the runtime that coset/omp.hpp or coset/tbb.hpp needs. Who links them has
# found that runtime. cosetConfig.cmake makes the same of an installed coset.
foreach(adapter openmp:OpenMP::OpenMP_CXX tbb:TBB::tbb)
  string(REGEX MATCH "^([a-z]+):(.+)$" adapter ${adapter})
  add_library(coset_${CMAKE_MATCH_1} INTERFACE)
  add_library(coset::${CMAKE_MATCH_1} ALIAS coset_${CMAKE_MATCH_1})
  target_link_libraries(coset_${CMAKE_MATCH_1} INTERFACE coset::coset ${CMAKE_MATCH_2})
endforeach()
