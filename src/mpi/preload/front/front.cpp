// SPDX-License-Identifier: Apache-2.0
// libcoset_preload.so: one module for every MPI. It is linked with none, and so loads none into programs that have none. The first
// call through it finds the process's MPI, loads the half that was built for that one, and every later call is a jump there.
//
// Every process of a job has it, shells and launchers, too: no C++ library, nothing to do at their start.
#include "mpi/preload/front/front.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mpi/preload/functions.hpp"

namespace {

// Whatever an MPI's handles are, each argument is an integer or a pointer (real.cpp asserts it), and passed on as it is. Not one more
// than there are, as the stack behind the last is the caller's.
using word = std::intptr_t;
// clang-format off
#define COSET_WORDS_0
#define COSET_WORDS_1 word a
#define COSET_WORDS_2 COSET_WORDS_1, word b
#define COSET_WORDS_3 COSET_WORDS_2, word c
#define COSET_WORDS_4 COSET_WORDS_3, word d
#define COSET_WORDS_5 COSET_WORDS_4, word e
#define COSET_WORDS_6 COSET_WORDS_5, word f
#define COSET_WORDS_7 COSET_WORDS_6, word g
#define COSET_WORDS_8 COSET_WORDS_7, word h
#define COSET_WORDS_9 COSET_WORDS_8, word i
#define COSET_WORDS_10 COSET_WORDS_9, word j
#define COSET_WORDS_11 COSET_WORDS_10, word k
#define COSET_WORDS_12 COSET_WORDS_11, word l
#define COSET_PASSED_0
#define COSET_PASSED_1 , a
#define COSET_PASSED_2 COSET_PASSED_1, b
#define COSET_PASSED_3 COSET_PASSED_2, c
#define COSET_PASSED_4 COSET_PASSED_3, d
#define COSET_PASSED_5 COSET_PASSED_4, e
#define COSET_PASSED_6 COSET_PASSED_5, f
#define COSET_PASSED_7 COSET_PASSED_6, g
#define COSET_PASSED_8 COSET_PASSED_7, h
#define COSET_PASSED_9 COSET_PASSED_8, i
#define COSET_PASSED_10 COSET_PASSED_9, j
#define COSET_PASSED_11 COSET_PASSED_10, k
#define COSET_PASSED_12 COSET_PASSED_11, l
#define COSET_BOTH(name, parameters) COSET_NAMED(MPI_##name, parameters) COSET_NAMED(PMPI_##name, parameters)
#define COSET_BOTH_EXTENDED(name, parameters) COSET_NAMED(MPIX_##name, parameters) COSET_NAMED(PMPIX_##name, parameters)
#define COSET_BOTH_LARGE(name, parameters) COSET_NAMED(MPI_##name##_c, parameters) COSET_NAMED(PMPI_##name##_c, parameters)
#define COSET_ALL_NAMES \
  COSET_OF_EVERY_MPI(COSET_BOTH) COSET_OF_LATER_NAME(COSET_BOTH) COSET_OF_LATER_NAME(COSET_BOTH_EXTENDED) \
  COSET_OF_LARGE_COUNTS(COSET_BOTH_LARGE)
// clang-format on

#define COSET_NAMED(name, parameters) at_##name,
enum : int { COSET_ALL_NAMES how_many };
#undef COSET_NAMED
#define COSET_NAMED(name, parameters) #name,
constexpr char const* names[] = {COSET_ALL_NAMES};
#undef COSET_NAMED

constinit std::atomic<void*> chosen[how_many] = {};

/// Every MPI has it, and no tool stands before it.
constexpr char mark[] = "PMPI_Get_library_version";

struct {
  void* marked = nullptr;  ///< its function of that name
  /// Where it was opened for somebody alone, as Python does. Else it is among what follows this module.
  void* handle = nullptr;
} mpi;

/// The folder of this file, where the halves are, too.
char folder[PATH_MAX];

link_map const* library_of(void* address) {
  Dl_info names_of_it;
  void* found = nullptr;
  if (address == nullptr || dladdr1(address, &names_of_it, &found, RTLD_DL_LINKMAP) == 0) return nullptr;
  return static_cast<link_map const*>(found);
}

char const* file_of(void* address) {
  link_map const* const found = library_of(address);
  return found != nullptr ? found->l_name : "";
}

/// What is loaded already, or nullptr.
void* opened(char const* name) { return name[0] != '\0' ? dlopen(name, RTLD_LAZY | RTLD_NOLOAD) : nullptr; }

void find_mpi() {
  mpi.marked = dlsym(RTLD_NEXT, mark);
  if (mpi.marked != nullptr) return;
  link_map const* each = library_of(chosen);
  while (each->l_prev != nullptr) each = each->l_prev;
  for (; each != nullptr; each = each->l_next) {
    void* const handle = opened(each->l_name);
    if (handle == nullptr) continue;
    void* const found = dlsym(handle, mark);
    if (library_of(found) == each) {
      mpi.marked = found;
      mpi.handle = handle;
      return;
    }
    dlclose(handle);
  }
}

void find_folder() {
  void* const self = opened(file_of(chosen));
  // The folder as it was when this file was loaded, wherever the program has gone since.
  if (self == nullptr || dlinfo(self, RTLD_DI_ORIGIN, folder) != 0) folder[0] = '\0';
}

constexpr char prefix[] = "coset_preload_for_";

/// Looks at the halves that there are. That for this MPI's SONAME, or nullptr; `others` are the SONAMEs of all, for people.
void* half_for_mpi(char* others, std::size_t room) {
  void* half = nullptr;
  std::size_t written = 0;
  DIR* const all = opendir(folder);
  while (dirent const* const file = all != nullptr ? readdir(all) : nullptr) {
    if (std::strncmp(file->d_name, prefix, sizeof prefix - 1) != 0) continue;
    char const* const soname = file->d_name + sizeof prefix - 1;
    int const more = std::snprintf(others + written, room - written, "%s%s", written != 0 ? ", " : "", soname);
    if (more > 0 && written + static_cast<std::size_t>(more) < room) written += static_cast<std::size_t>(more);
    void* const loaded = opened(soname);
    if (loaded == nullptr || dlsym(loaded, mark) != mpi.marked) continue;
    char path[PATH_MAX + NAME_MAX + 2];
    std::snprintf(path, sizeof path, "%s/%s", folder, file->d_name);
    half = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (half == nullptr) std::fprintf(stderr, "coset: %s\n", dlerror());
  }
  if (all != nullptr) closedir(all);
  return half;
}

/// What stands before this MPI, or nullptr, having said why.
void* find_half() {
  find_folder();
  char others[512] = "";
  void* const half = half_for_mpi(others, sizeof others);
  auto const lacked_by =
      reinterpret_cast<coset_preload_lacks_function>(half != nullptr ? dlsym(half, COSET_PRELOAD_LACKS) : nullptr);
  char const* const lack = lacked_by != nullptr ? lacked_by() : nullptr;
  if (half != nullptr && lack == nullptr) return half;
  char const* const required = std::getenv("COSET_INTERPOSE_REQUIRE");
  bool const may_go_on = required == nullptr || std::strcmp(required, "1") != 0;
  std::fprintf(
      stderr,
      "coset: this program's MPI is %s%s%s, and %s/libcoset_preload.so has nothing for it%s%s: all collectives "
      "are MPI's own%s\n",
      file_of(mpi.marked), lack != nullptr ? " without " : "", lack != nullptr ? lack : "", folder,
      others[0] != '\0' ? ", but for " : "", others, may_go_on ? "" : ", which COSET_INTERPOSE_REQUIRE forbids");
  if (!may_go_on) std::exit(1);
  return nullptr;
}

void choose() {
  find_mpi();
  void* const half = mpi.marked != nullptr ? find_half() : nullptr;
  link_map const* const of_half = half != nullptr ? library_of(dlsym(half, COSET_PRELOAD_LACKS)) : nullptr;
  for (int which = 0; which < how_many; ++which) {
    void* found = half != nullptr ? dlsym(half, names[which]) : nullptr;
    // Other names that it finds are those of its MPI, which tools may stand before.
    if (found == nullptr || library_of(found) != of_half) found = coset_preload_next(names[which]);
    chosen[which].store(found, std::memory_order_release);
  }
}

/// The first call of all makes the choice.
__attribute__((cold, noinline)) void* choose_for(int which) {
  static pthread_once_t choice = PTHREAD_ONCE_INIT;
  pthread_once(&choice, choose);
  void* const found = chosen[which].load(std::memory_order_acquire);
  if (found != nullptr) return found;
  // As the dynamic linker ends a program that calls what nobody defines.
  std::fprintf(stderr, "coset: %s is called, and no MPI that this process has loaded defines it\n", names[which]);
  _exit(127);
}

template <class... Words>
word pass_on(int which, Words... all) {
  void* found = chosen[which].load(std::memory_order_acquire);
  if (found == nullptr) [[unlikely]]
    found = choose_for(which);
  return reinterpret_cast<word (*)(Words...)>(found)(all...);
}

/// What the caller's library would call: a process may have several UCXs, each for somebody alone, and all reach this module.
void* find_progress_of_ucx(void* caller) {
  constexpr char name[] = "ucp_worker_progress";
  void* const library = opened(file_of(caller));
  void* found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr || library_of(found) == library_of(chosen)) found = dlsym(RTLD_NEXT, name);
  if (found != nullptr) return found;
  std::fprintf(stderr, "coset: %s is called, and no library that this process has loaded defines it\n", name);
  _exit(127);
}

/// Where a library's code lies, and what its calls of UCX's progress are passed on to.
struct ucx_user {
  std::uintptr_t begin, end;
  void* progress;
};
constexpr int most_ucx_users = 8;
constinit ucx_user ucx_users[most_ucx_users] = {};
constinit std::atomic<int> ucx_users_known{0};  // released by who has written one more, under a lock

bool has(ucx_user const& of, std::uintptr_t place) { return of.begin <= place && place < of.end; }

/// The loaded object in which a place lies; an empty one if there is none.
ucx_user object_of(std::uintptr_t place) {
  ucx_user found{place, 0, nullptr};
  auto const look = [](dl_phdr_info* object, std::size_t, void* of) {
    auto& wanted = *static_cast<ucx_user*>(of);
    ucx_user whole{UINTPTR_MAX, 0, nullptr};
    for (int i = 0; i < object->dlpi_phnum; ++i) {
      auto const& part = object->dlpi_phdr[i];
      if (part.p_type != PT_LOAD) continue;
      std::uintptr_t const begin = object->dlpi_addr + part.p_vaddr;
      if (begin < whole.begin) whole.begin = begin;
      if (begin + part.p_memsz > whole.end) whole.end = begin + part.p_memsz;
    }
    if (!has(whole, wanted.begin)) return 0;
    wanted = whole;
    return 1;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

__attribute__((cold, noinline)) void* progress_for_new(void* caller) {
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  void* const progress = find_progress_of_ucx(caller);
  pthread_mutex_lock(&lock);
  auto const place = reinterpret_cast<std::uintptr_t>(caller);
  int const known = ucx_users_known.load(std::memory_order_relaxed);
  ucx_user found = object_of(place);
  bool is_new = known < most_ucx_users && has(found, place);  // code that no library has is not kept
  for (int i = 0; i < known; ++i) is_new = is_new && !has(ucx_users[i], place);
  if (is_new) {
    found.progress = progress;
    ucx_users[known] = found;
    ucx_users_known.store(known + 1, std::memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return progress;
}

/// By the library that calls: MPICH does so from dozens of places, at each look for messages.
void* progress_for(void* caller) {
  auto const place = reinterpret_cast<std::uintptr_t>(caller);
  int const known = ucx_users_known.load(std::memory_order_acquire);
  for (int i = 0; i < known; ++i)
    if (has(ucx_users[i], place)) return ucx_users[i].progress;
  return progress_for_new(caller);
}

}  // namespace

#define COSET_VISIBLE __attribute__((visibility("default")))

extern "C" {

COSET_VISIBLE constinit thread_local coset_preload_kept coset_preload_of_thread = {};

COSET_VISIBLE void* coset_preload_next(char const* name) {
  void* const found = dlsym(RTLD_NEXT, name);
  return found != nullptr || mpi.handle == nullptr ? found : dlsym(mpi.handle, name);
}

COSET_VISIBLE constinit coset_preload_watch coset_preload_of_ucx = {};

/// MPICH looks for messages by this function where its network is UCX. The half's look comes after it.
COSET_VISIBLE unsigned ucp_worker_progress(void* worker) {
  void* const by_ucx = progress_for(__builtin_return_address(0));
  unsigned const moved = reinterpret_cast<unsigned (*)(void*)>(by_ucx)(worker);
  coset_preload_of_ucx.latest = worker;
  if (worker == coset_preload_of_ucx.watched && worker != nullptr) coset_preload_of_ucx.look();
  return moved;
}

#define COSET_NAMED(name, parameters) \
  COSET_VISIBLE word name(COSET_WORDS_##parameters) { return pass_on(at_##name COSET_PASSED_##parameters); }
COSET_ALL_NAMES
}
