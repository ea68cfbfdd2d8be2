// SPDX-License-Identifier: Apache-2.0
#include "numa/affinity.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "environment/variables.hpp"
#include "numa/binding.hpp"
#include "text/format.hpp"

namespace coset::numa {
namespace {

/// The OpenMP runtime of this process, if it has one: the library is linked with none. Functions of OpenMP 3.0 and 4.5.
struct openmp_runtime {
  int (*in_parallel)();
  int (*places)();
  int (*processors_of_place)(int place);
  void (*list_processors)(int place, int* into);
};

template <class Function>
bool find(char const* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

std::optional<openmp_runtime> loaded_runtime() {
  openmp_runtime r{};
  if (find("omp_in_parallel", r.in_parallel) && find("omp_get_num_places", r.places) &&
      find("omp_get_place_num_procs", r.processors_of_place) && find("omp_get_place_proc_ids", r.list_processors))
    return r;
  return std::nullopt;
}

mask mask_of_place(openmp_runtime const& runtime, int place) {
  std::vector<int> indices(static_cast<std::size_t>(std::max(runtime.processors_of_place(place), 0)));
  if (!indices.empty()) runtime.list_processors(place, indices.data());
  mask all;
  for (int const os_index : indices)
    if (os_index >= 0) all.merge(mask::single(static_cast<unsigned>(os_index)));
  return all;
}

/// All places, if `own` is one of them.
std::optional<mask> places_around(mask const& own, openmp_runtime const& runtime) {
  mask all;
  bool confined = false;
  for (int place = 0, places = runtime.places(); place < places; ++place) {
    mask const one = mask_of_place(runtime, place);
    confined = confined || one == own;
    all.merge(one);
  }
  if (!confined) return std::nullopt;
  return all;
}

/// The variable by which a user has OpenMP bind threads.
char const* binding_variable() {
  for (environment::name const name :
       std::initializer_list<environment::name>{"OMP_PLACES", "GOMP_CPU_AFFINITY", "KMP_AFFINITY"})
    if (!environment::value(name).empty()) return name.text();
  auto const bind = environment::value("OMP_PROC_BIND");
  return !bind.empty() && bind != "false" && bind != "FALSE" ? "OMP_PROC_BIND" : nullptr;
}

}  // namespace

affinity affinity_of_process() {
  affinity found{mask::of_thread(0), false, ""};
  auto const online = static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));
  // A runtime that has not been used yet binds the thread that asks it, so it is asked only if necessary.
  char const* const variable = binding_variable();
  if (variable == nullptr || is_bound() || found.processors.count() >= online) return found;
  auto const runtime = loaded_runtime();
  if (!runtime) {
    found.warning =
        text::format("{} is set, and this thread may use {} of {} processors: teams that it makes inherit this",
                     variable, found.processors.count(), online);
  } else if (runtime->in_parallel() == 0) {
    mask const own = found.processors;
    if (auto all = places_around(own, *runtime)) {
      found.processors = std::move(*all);
      found.confined = true;
    }
    if (!(mask::of_thread(0) == own)) own.apply();  // LLVM's runtime has bound this thread
  }
  return found;
}

}  // namespace coset::numa
