// SPDX-License-Identifier: Apache-2.0
// Preloaded by tests/processors/run: what asks the kernel for processors hears of so many, whatever there are. Processor i
// of those is processor i modulo the real number. A thread's mask is kept here, the kernel gets what it means in reality.
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr char const* inherited_mask = "PRETENDED_MASK";  // through exec, which keeps nothing else

using processors = std::uint64_t;  // a set of them

/// Not by glibc's functions, which these stand before.
long kernel(long number, long a = 0, long b = 0, long c = 0, long d = 0, long e = 0, long f = 0) {
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  long result;
  asm volatile("syscall"
               : "=a"(result)
               : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
               : "rcx", "r11", "memory");
  return result;
}

long with_errno(long result) {
  if (result >= 0 || result < -4095) return result;
  errno = static_cast<int>(-result);
  return -1;
}

pid_t this_thread() { return static_cast<pid_t>(kernel(SYS_gettid)); }

unsigned number_in(char const* name) {
  char const* const text = std::getenv(name);
  return text != nullptr ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : 1;
}

unsigned pretended() {
  static unsigned const number = number_in("PRETENDED_PROCESSORS");
  return number;
}

/// The real processors that this process may use, in their order: "0,1,6".
struct real_processors {
  unsigned number = 0;
  unsigned at[64] = {};

  real_processors() {
    char const* text = std::getenv("REAL_PROCESSORS");
    for (char* end = nullptr; text != nullptr && *text != '\0' && number < 64; text = *end == ',' ? end + 1 : end) {
      at[number++] = static_cast<unsigned>(std::strtoul(text, &end, 10));
      if (end == text) break;
    }
  }
};

real_processors const& real() {
  static real_processors const those;
  return those;
}

processors first(unsigned number) { return number >= 64 ? ~processors{0} : (processors{1} << number) - 1; }

/// Processor i here stands on this one.
unsigned under(unsigned i) { return real().at[i % real().number]; }

/// A set as the kernel has it: of any size.
struct kernel_mask {
  unsigned long words[16] = {};

  void add(unsigned processor) { words[processor / 64] |= 1ul << processor % 64; }
  bool has(unsigned processor) const { return (words[processor / 64] >> processor % 64 & 1) != 0; }
};

kernel_mask in_reality(processors set) {
  kernel_mask result;
  for (unsigned i = 0; i < pretended(); ++i)
    if ((set >> i & 1) != 0) result.add(under(i));
  return result;
}

/// All processors here that stand on one of these.
processors meaning(kernel_mask const& set) {
  processors result = 0;
  for (unsigned i = 0; i < pretended(); ++i)
    if (set.has(under(i))) result |= processors{1} << i;
  return result;
}

/// Masks of threads that have been told one; numbers of threads are used again, so whoever begins says what it has.
struct known_mask {
  std::atomic<pid_t> thread;
  std::atomic<processors> set;
};
known_mask known[1 << 16];

known_mask* find(pid_t thread, bool make) {
  for (unsigned i = 0; i < 1 << 16; ++i) {
    known_mask& each = known[(static_cast<unsigned>(thread) + i) % (1 << 16)];
    pid_t there = each.thread.load();
    if (there == thread) return &each;
    if (there == 0 && (!make || each.thread.compare_exchange_strong(there, thread))) return make ? &each : nullptr;
  }
  std::fputs("tests/processors: more threads than it can tell apart\n", stderr);
  std::abort();
}

void remember(pid_t thread, processors set) { find(thread, true)->set.store(set); }

processors mask_of(pid_t thread) {
  if (known_mask const* const there = find(thread, false); there != nullptr && there->set != 0) return there->set;
  kernel_mask kernels;
  if (kernel(SYS_sched_getaffinity, thread, sizeof kernels, reinterpret_cast<long>(&kernels)) < 0) return 0;
  // A thread that a sanitizer has made behind the C library's back: as the first one is.
  known_mask const* const first_thread = find(static_cast<pid_t>(kernel(SYS_getpid)), false);
  return meaning(kernels) &
         (first_thread != nullptr && first_thread->set != 0 ? first_thread->set.load() : ~processors{0});
}

bool alone() {
  struct stat of;
  return stat("/proc/self/task", &of) == 0 && of.st_nlink == 3;
}

/// For programs that this one executes; while it has other threads, which may look at the environment, it keeps quiet.
void tell_of(processors set) {
  if (!alone()) return;
  char text[32];
  std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(set));
  setenv(inherited_mask, text, 1);
}

long put(pid_t thread, std::size_t bytes, void const* from) {
  processors set = 0;
  std::memcpy(&set, from, std::min(bytes, sizeof set));
  set &= first(pretended());
  if (set == 0) return -EINVAL;
  kernel_mask const kernels = in_reality(set);
  long const result = kernel(SYS_sched_setaffinity, thread, sizeof kernels, reinterpret_cast<long>(&kernels));
  if (result < 0) return result;
  pid_t const whose = thread != 0 ? thread : this_thread();
  remember(whose, set);
  if (whose == this_thread()) tell_of(set);
  return result;
}

thread_local processors of_parent = 0;

void inherit_from_parent() {
  remember(this_thread(), of_parent);
  tell_of(of_parent);
}

/// Before any constructor that asks.
[[gnu::constructor(101)]] void begin() {
  char const* const text = std::getenv(inherited_mask);
  processors const set = text != nullptr ? std::strtoull(text, nullptr, 16) : 0;
  processors const mine = set != 0 ? set : first(pretended());
  put(0, sizeof mine, &mine);
  pthread_atfork([] { of_parent = mask_of(this_thread()); }, nullptr, inherit_from_parent);
}

long get(pid_t thread, std::size_t bytes, void* into) {
  long const result = kernel(SYS_sched_getaffinity, thread, static_cast<long>(bytes), reinterpret_cast<long>(into));
  if (result < 0) return result;
  processors const set = mask_of(thread != 0 ? thread : this_thread());
  std::memset(into, 0, static_cast<std::size_t>(result));
  std::memcpy(into, &set, std::min<std::size_t>(static_cast<std::size_t>(result), sizeof set));
  return result;
}

unsigned here() {
  unsigned really = 0;
  kernel(SYS_getcpu, reinterpret_cast<long>(&really));
  processors const mine = mask_of(this_thread());
  for (unsigned i = 0; i < pretended(); ++i)
    if ((mine >> i & 1) != 0 && under(i) == really) return i;
  return 0;
}

/// What an OpenMP runtime says of the thread that it makes next.
struct wish {
  pthread_attr_t const* attributes = nullptr;
  processors set = 0;
};
thread_local wish of_next;

struct beginning {
  void* (*body)(void*);
  void* argument;
  processors set;
};

}  // namespace

extern "C" {

int sched_getaffinity(pid_t thread, std::size_t bytes, cpu_set_t* into) {
  long const result = get(thread, bytes, into);
  if (result < 0) return static_cast<int>(with_errno(result));
  std::memset(reinterpret_cast<char*>(into) + result, 0, bytes - static_cast<std::size_t>(result));
  return 0;
}

int sched_setaffinity(pid_t thread, std::size_t bytes, cpu_set_t const* from) {
  return static_cast<int>(with_errno(put(thread, bytes, from)));
}

// Of the calling thread: no program here asks for another's.
int pthread_getaffinity_np(pthread_t, std::size_t bytes, cpu_set_t* into) {
  return sched_getaffinity(0, bytes, into) == 0 ? 0 : errno;
}

int pthread_setaffinity_np(pthread_t, std::size_t bytes, cpu_set_t const* from) {
  return sched_setaffinity(0, bytes, from) == 0 ? 0 : errno;
}

int sched_getcpu() { return static_cast<int>(here()); }

int getcpu(unsigned* processor, unsigned* node) {
  if (processor != nullptr) *processor = here();
  return node != nullptr ? static_cast<int>(with_errno(kernel(SYS_getcpu, 0, reinterpret_cast<long>(node)))) : 0;
}

long syscall(long number, ...) {
  std::va_list list;
  va_start(list, number);
  long a[6];
  for (long& each : a) each = va_arg(list, long);
  va_end(list);
  if (number == SYS_sched_getaffinity)
    return with_errno(get(static_cast<pid_t>(a[0]), static_cast<std::size_t>(a[1]), reinterpret_cast<void*>(a[2])));
  if (number == SYS_sched_setaffinity)
    return with_errno(put(static_cast<pid_t>(a[0]), static_cast<std::size_t>(a[1]), reinterpret_cast<void*>(a[2])));
  return with_errno(kernel(number, a[0], a[1], a[2], a[3], a[4], a[5]));
}

int pthread_attr_setaffinity_np(pthread_attr_t* attributes, std::size_t bytes, cpu_set_t const* from) {
  of_next = {};
  if (from == nullptr || bytes == 0) return 0;
  processors set = 0;
  std::memcpy(&set, from, std::min(bytes, sizeof set));
  if ((set & first(pretended())) == 0) return EINVAL;
  of_next = {attributes, set};
  return 0;
}

int pthread_create(pthread_t* made, pthread_attr_t const* attributes, void* (*body)(void*), void* argument) {
  static auto const next = reinterpret_cast<decltype(&pthread_create)>(dlsym(RTLD_NEXT, "pthread_create"));
  auto* const all = static_cast<beginning*>(std::malloc(sizeof(beginning)));
  if (all == nullptr) return EAGAIN;
  bool const wished = attributes != nullptr && of_next.attributes == attributes;
  *all = {body, argument, wished ? of_next.set : mask_of(this_thread())};
  of_next = {};
  auto const run = [](void* of) -> void* {
    beginning const mine = *static_cast<beginning*>(of);
    std::free(of);
    put(0, sizeof mine.set, &mine.set);
    return mine.body(mine.argument);
  };
  int const result = next(made, attributes, run, all);
  if (result != 0) std::free(all);
  return result;
}

}  // extern "C"
