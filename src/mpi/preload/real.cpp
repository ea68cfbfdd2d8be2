// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/real.hpp"

#include <dlfcn.h>

#include <cstdio>
#include <string>

namespace coset::interpose {
namespace {

#if defined(OPEN_MPI)
#define COSET_PERSISTENT_PREFIX "MPIX_"
#else
#define COSET_PERSISTENT_PREFIX "MPI_"
#endif

/// Whether libcoset_preload.so passes on all: so many integers and pointers.
template <std::size_t Parameters, class... Arguments>
constexpr bool are_words(int (*)(Arguments...)) {
  return sizeof...(Arguments) == Parameters && ((std::is_integral_v<Arguments> || std::is_pointer_v<Arguments>)&&...);
}

/// Calls find(function, its name without P) for each function of the table.
template <class Find>
real_functions find_all(Find const& find) {
  real_functions all{};
#define COSET_FIND(name, parameters)                          \
  static_assert(are_words<parameters>(decltype(all.name){})); \
  find(all.name, "MPI_" #name);
  COSET_OF_EVERY_MPI(COSET_FIND)
#undef COSET_FIND
#define COSET_FIND(name, parameters)                          \
  static_assert(are_words<parameters>(decltype(all.name){})); \
  find(all.name, COSET_PERSISTENT_PREFIX #name);
  COSET_OF_LATER_NAME(COSET_FIND)
#undef COSET_FIND
#if MPI_VERSION >= 4
#define COSET_FIND(name, parameters)                              \
  static_assert(are_words<parameters>(decltype(all.name##_c){})); \
  find(all.name##_c, "MPI_" #name "_c");
  COSET_OF_LARGE_COUNTS(COSET_FIND)
#undef COSET_FIND
#endif
  return all;
}

void* next_of_second_name(char const* name) { return coset_preload_next((std::string("P") + name).c_str()); }

constinit char const* lacking = nullptr;

/// Of the next definition behind this library: MPI's, or that of a tool which defines second names, too, as Darshan does.
template <class Function>
void find_real(Function& function, char const* name) {
  void* const found = next_of_second_name(name);
  if (found == nullptr && lacking == nullptr) lacking = name;
  function = reinterpret_cast<Function>(found);
}

/// Where a function's library begins, and its name.
Dl_info library_of(void* function) {
  Dl_info found{};
  if (function != nullptr) dladdr(function, &found);
  return found;
}

/// Both names of a function are in one library where that is MPI; or a tool that stands below as this layer does.
template <class Function>
void find_tool(Function& function, char const* name) {
  void* const first = coset_preload_next(name);
  void* const second = next_of_second_name(name);
  if (first != nullptr && library_of(first).dli_fbase != library_of(second).dli_fbase)
    function = reinterpret_cast<Function>(first);
}

}  // namespace

real_functions const real = find_all([](auto& function, char const* name) { find_real(function, name); });
real_functions const tools = find_all([](auto& function, char const* name) { find_tool(function, name); });

char const* name_of_tool() noexcept {
  void* const any =
      tools.Init != nullptr ? reinterpret_cast<void*>(tools.Init) : reinterpret_cast<void*>(tools.Allreduce);
  return library_of(any).dli_fname;
}

}  // namespace coset::interpose

extern "C" char const* coset_preload_lacks() { return coset::interpose::lacking; }
