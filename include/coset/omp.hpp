// SPDX-License-Identifier: Apache-2.0
// For OpenMP programs: reductions of arrays, and the threads of a region as ranks. Needs the compiler's OpenMP; the
// library itself does not. Tested with the runtimes of GNU (libgomp) and LLVM (libomp).
#pragma once

#include "coset/detail/cxx20.hpp"

#ifndef _OPENMP
#error "coset/omp.hpp is for translation units that are compiled with OpenMP (-fopenmp)"
#endif

#include "coset/omp/member_here.hpp"
#include "coset/omp/reduction.hpp"
#include "coset/omp/scatter_add.hpp"
#include "coset/omp/sparse_reduction.hpp"
