// SPDX-License-Identifier: Apache-2.0
#include "numa/affinity.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/environment/variables.hpp"
#include "base/text/format.hpp"
#include "numa/binding.hpp"

namespace coset::numa {
namespace {

/// The OpenMP runtime of this process, if it has one: the library is linked with none. Functions of OpenMP 3.0 and 4.5.
struct openmp_runtime {
  int (*in_parallel)();
  int (*level)();
  int (*active_level)();
  int (*threads_of_level)(int level);
  int (*places)();
  int (*processors_of_place)(int place);
  void (*list_processors)(int place, int* into);
};

template <class Function>
bool find(char const* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
  return function != nullptr;
}

/// Null if there is none yet.
openmp_runtime const* loaded_runtime() {
  static std::mutex finding;
  static openmp_runtime r;
  static std::atomic<bool> found = false;
  if (found.load(std::memory_order_acquire)) return &r;
  std::lock_guard const lock(finding);
  bool const all = find("omp_in_parallel", r.in_parallel) && find("omp_get_level", r.level) &&
                   find("omp_get_active_level", r.active_level) && find("omp_get_team_size", r.threads_of_level) &&
                   find("omp_get_num_places", r.places) && find("omp_get_place_num_procs", r.processors_of_place) &&
                   find("omp_get_place_proc_ids", r.list_processors);
  found.store(all, std::memory_order_release);  // partner: the acquire load above
  return all ? &r : nullptr;
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
  // A runtime that has not been used yet binds the thread that asks it, so it is asked only if necessary.
  char const* const variable = binding_variable();
  if (variable == nullptr || is_bound()) return found;
  auto const online = static_cast<unsigned>(std::max(sysconf(_SC_NPROCESSORS_ONLN), 1L));  // reads a file
  if (found.processors.count() >= online) return found;
  auto const* const runtime = loaded_runtime();
  if (runtime == nullptr) {
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

std::optional<std::size_t> threads_of_openmp_region() {
  auto const* const runtime = loaded_runtime();
  if (runtime == nullptr) return std::nullopt;
  thread_local bool is_known = binding_variable() == nullptr;  // to LLVM's runtime, which binds new threads
  mask const own = is_known ? mask() : mask::of_thread(0);
  int const level = runtime->level();
  if (!std::exchange(is_known, true) && !(mask::of_thread(0) == own)) own.apply();
  if (level == 0 || runtime->active_level() > 1) return std::nullopt;
  int most = 1;
  for (int k = 1; k <= level; ++k) most = std::max(most, runtime->threads_of_level(k));
  return static_cast<std::size_t>(most);
}

}  // namespace coset::numa
