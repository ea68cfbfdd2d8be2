// SPDX-License-Identifier: Apache-2.0
// MPI's own functions, beneath those of the same names that this layer puts before them.
#pragma once

#include <mpi.h>
#if defined(OPEN_MPI)
#include <mpi-ext.h>
#endif

#include <cstddef>
#include <type_traits>

#include "mpi/preload/front/front.hpp"
#include "mpi/preload/functions.hpp"

namespace coset::interpose {

struct real_functions {
#define COSET_MEMBER(name, parameters) decltype(&PMPI_##name) name;
  COSET_OF_EVERY_MPI(COSET_MEMBER)
#undef COSET_MEMBER
#if defined(OPEN_MPI)  // which has the persistent ones as an extension
#define COSET_MEMBER(name, parameters) decltype(&PMPIX_##name) name;
#else
#define COSET_MEMBER(name, parameters) decltype(&PMPI_##name) name;
#endif
  COSET_OF_LATER_NAME(COSET_MEMBER)
#undef COSET_MEMBER
#if MPI_VERSION >= 4
#define COSET_MEMBER(name, parameters) decltype(&PMPI_##name##_c) name##_c;
  COSET_OF_LARGE_COUNTS(COSET_MEMBER)
#undef COSET_MEMBER
#endif
};

/// MPI's own, found as this library is loaded.
extern real_functions const real;

/// A tool's functions between this library and MPI, which see calls first and go on to PMPI_…, as they would without this library.
/// nullptr where the next definition is MPI's own.
extern real_functions const tools;
/// The library of its MPI_Init, or MPI_Allreduce, for people; nullptr if there is none.
char const* name_of_tool() noexcept;

/// What a file keeps of each thread, in the room that there is for it.
template <class Kept, std::size_t Room>
Kept& kept_in(unsigned char (&bytes)[Room]) noexcept {
  static_assert(sizeof(Kept) <= Room && alignof(Kept) <= alignof(void*) && std::is_trivially_copyable_v<Kept>);
  return *reinterpret_cast<Kept*>(bytes);
}

/// Whether this thread is in the layer, whose own calls of MPI go to MPI.
inline bool is_inside() noexcept { return coset_preload_of_thread.is_inside; }

/// In a forked child MPI's handles, the teams' and what is in flight are the parent's: every call goes to MPI.
inline constinit bool is_forked_child = false;

inline bool passes_through() noexcept { return is_inside() || is_forked_child; }

/// What the program calls, and not this layer or MPI within it.
template <class Function>
bool is_for_tool(Function* of_tool) noexcept {
  return of_tool != nullptr && !is_inside();
}

class inside {
 public:
  inside() : before_(is_inside()) { coset_preload_of_thread.is_inside = true; }
  ~inside() { coset_preload_of_thread.is_inside = before_; }
  inside(inside const&) = delete;
  inside& operator=(inside const&) = delete;

 private:
  bool const before_;
};

}  // namespace coset::interpose
