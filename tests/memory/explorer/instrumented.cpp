// SPDX-License-Identifier: Apache-2.0
// What code compiled with -fsanitize=thread calls, in the place of ThreadSanitizer's own library: each access of memory,
// with its order. So what is explored is the library's own code, as it is.
#include <cstdarg>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include <linux/futex.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory/explorer/explorer.hpp"
#include "memory/explorer/memories.hpp"
#include "memory/explorer/sites.hpp"

using namespace coset::memory_test;

namespace {

using kind = operation::kind;

template <class T>
std::uint64_t bits_of(T value) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

template <class T>
T load_at(T const* at, int order, void const* from) {
  if (!is_explored()) return __atomic_load_n(at, __ATOMIC_SEQ_CST);
  auto const weak = order_at(from, access_kind::load, std::memory_order(order));
  return static_cast<T>(perform({.what = kind::load, .address = at, .bytes = sizeof(T), .order = weak, .from = from}));
}

template <class T>
void store_at(T* at, T value, int order, void const* from) {
  if (!is_explored()) return __atomic_store_n(at, value, __ATOMIC_SEQ_CST);
  auto const weak = order_at(from, access_kind::store, std::memory_order(order));
  perform({.what = kind::store, .address = at, .bytes = sizeof(T), .order = weak, .operand = value, .from = from});
}

template <class T, class Unexplored>
T change_at(T* at, kind how, T value, int order, void const* from, Unexplored unexplored) {
  if (!is_explored()) return unexplored();
  auto const weak = order_at(from, access_kind::change, std::memory_order(order));
  return static_cast<T>(
      perform({.what = how, .address = at, .bytes = sizeof(T), .order = weak, .operand = value, .from = from}));
}

template <class T>
bool exchange_if(T* at, T* expected, T wanted, int order, int order_of_failure, void const* from) {
  if (!is_explored())
    return __atomic_compare_exchange_n(at, expected, wanted, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
  T const found = static_cast<T>(
      perform({.what = kind::compare_exchange,
               .address = at,
               .bytes = sizeof(T),
               .order = order_at(from, access_kind::change, std::memory_order(order)),
               .order_of_failure = order_at(from, access_kind::failed_change, std::memory_order(order_of_failure)),
               .operand = wanted,
               .expected = *expected,
               .from = from}));
  bool const did = found == *expected;
  *expected = found;
  return did;
}

void plain(void const* at, std::size_t bytes, bool writes, void const* from) {
  if (is_explored() && bytes != 0) access(at, bytes, writes, from);
}

}  // namespace

void* operator new(std::size_t bytes) {
  if (is_explored()) return memory_for(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  void* const made = std::malloc(bytes == 0 ? 1 : bytes);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  auto const to = static_cast<std::size_t>(alignment);
  if (is_explored()) return memory_for(bytes, to);
  void* const made = std::aligned_alloc(to, (bytes + to - 1) / to * to);
  if (made == nullptr) throw std::bad_alloc();
  return made;
}
void operator delete(void* at) noexcept {
  if (!memories::all().hold(at)) std::free(at);
}
void operator delete(void* at, std::size_t) noexcept { operator delete(at); }
void operator delete(void* at, std::align_val_t) noexcept { operator delete(at); }
void operator delete(void* at, std::size_t, std::align_val_t) noexcept { operator delete(at); }

// NOLINTBEGIN: the names are the compiler's
#define COSET_ATOMICS(bits)                                                                                           \
  std::uint##bits##_t __tsan_atomic##bits##_load(std::uint##bits##_t const volatile* at, int order) {                 \
    return load_at(const_cast<std::uint##bits##_t const*>(at), order, __builtin_return_address(0));                   \
  }                                                                                                                   \
  void __tsan_atomic##bits##_store(std::uint##bits##_t volatile* at, std::uint##bits##_t value, int order) {          \
    store_at(const_cast<std::uint##bits##_t*>(at), value, order, __builtin_return_address(0));                        \
  }                                                                                                                   \
  COSET_CHANGE(bits, exchange, exchange, __atomic_exchange_n)                                                         \
  COSET_CHANGE(bits, fetch_add, add, __atomic_fetch_add)                                                              \
  COSET_CHANGE(bits, fetch_sub, subtract, __atomic_fetch_sub)                                                         \
  COSET_CHANGE(bits, fetch_and, bit_and, __atomic_fetch_and)                                                          \
  COSET_CHANGE(bits, fetch_or, bit_or, __atomic_fetch_or)                                                             \
  bool __tsan_atomic##bits##_compare_exchange_strong(std::uint##bits##_t volatile* at, std::uint##bits##_t* expected, \
                                                     std::uint##bits##_t wanted, int order, int of_failure) {         \
    return exchange_if(const_cast<std::uint##bits##_t*>(at), expected, wanted, order, of_failure,                     \
                       __builtin_return_address(0));                                                                  \
  }                                                                                                                   \
  bool __tsan_atomic##bits##_compare_exchange_weak(std::uint##bits##_t volatile* at, std::uint##bits##_t* expected,   \
                                                   std::uint##bits##_t wanted, int order, int of_failure) {           \
    return exchange_if(const_cast<std::uint##bits##_t*>(at), expected, wanted, order, of_failure,                     \
                       __builtin_return_address(0));                                                                  \
  }
#define COSET_CHANGE(bits, name, how, unexplored)                                                               \
  std::uint##bits##_t __tsan_atomic##bits##_##name(std::uint##bits##_t volatile* at, std::uint##bits##_t value, \
                                                   int order) {                                                 \
    auto* const there = const_cast<std::uint##bits##_t*>(at);                                                   \
    return change_at(there, kind::how, value, order, __builtin_return_address(0),                               \
                     [&] { return unexplored(there, value, __ATOMIC_SEQ_CST); });                               \
  }
#define COSET_PLAIN(bytes)                                                                              \
  void __tsan_read##bytes(void* at) { plain(at, bytes, false, __builtin_return_address(0)); }           \
  void __tsan_write##bytes(void* at) { plain(at, bytes, true, __builtin_return_address(0)); }           \
  void __tsan_unaligned_read##bytes(void* at) { plain(at, bytes, false, __builtin_return_address(0)); } \
  void __tsan_unaligned_write##bytes(void* at) { plain(at, bytes, true, __builtin_return_address(0)); }

extern "C" {
COSET_ATOMICS(8)
COSET_ATOMICS(16)
COSET_ATOMICS(32)
COSET_ATOMICS(64)
COSET_PLAIN(1)
COSET_PLAIN(2)
COSET_PLAIN(4)
COSET_PLAIN(8)
COSET_PLAIN(16)

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
void __tsan_vptr_update(void**, void*) {}
void __tsan_vptr_read(void**) {}
void __tsan_read_range(void* at, std::size_t bytes) { plain(at, bytes, false, __builtin_return_address(0)); }
void __tsan_write_range(void* at, std::size_t bytes) { plain(at, bytes, true, __builtin_return_address(0)); }
void __tsan_atomic_signal_fence(int) {}
void __tsan_atomic_thread_fence(int order) {
  if (!is_explored()) return __atomic_thread_fence(__ATOMIC_SEQ_CST);
  void const* const from = __builtin_return_address(0);
  perform({.what = kind::fence, .order = order_at(from, access_kind::fence, std::memory_order(order)), .from = from});
}

// The linker sends calls of these functions here (--wrap).
void* __real_memcpy(void*, void const*, std::size_t);
void* __wrap_memcpy(void* to, void const* from, std::size_t bytes) {
  plain(from, bytes, false, __builtin_return_address(0));
  plain(to, bytes, true, __builtin_return_address(0));
  return __real_memcpy(to, from, bytes);
}

void* __real___cxa_allocate_exception(std::size_t);
void* __wrap___cxa_allocate_exception(std::size_t bytes) {
  void* const made = __real___cxa_allocate_exception(bytes);
  if (is_explored()) allocated(made, bytes);
  return made;
}

void* __real_memmove(void*, void const*, std::size_t);
void* __wrap_memmove(void* to, void const* from, std::size_t bytes) {
  plain(from, bytes, false, __builtin_return_address(0));
  plain(to, bytes, true, __builtin_return_address(0));
  return __real_memmove(to, from, bytes);
}

void* __real_memset(void*, int, std::size_t);
void* __wrap_memset(void* at, int value, std::size_t bytes) {
  plain(at, bytes, true, __builtin_return_address(0));
  return __real_memset(at, value, bytes);
}

int __real_pthread_mutex_lock(pthread_mutex_t*);
int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  if (!is_explored()) return __real_pthread_mutex_lock(mutex);
  lock(mutex);
  return 0;
}

int __real_pthread_mutex_trylock(pthread_mutex_t*);
int __wrap_pthread_mutex_trylock(pthread_mutex_t* mutex) {
  if (!is_explored()) return __real_pthread_mutex_trylock(mutex);
  return try_lock(mutex) ? 0 : 16;  // EBUSY
}

int __real_pthread_mutex_unlock(pthread_mutex_t*);
int __wrap_pthread_mutex_unlock(pthread_mutex_t* mutex) {
  if (!is_explored()) return __real_pthread_mutex_unlock(mutex);
  unlock(mutex);
  return 0;
}

void* __real_mmap(void*, std::size_t, int, int, int, off_t);
void* __wrap_mmap(void* at, std::size_t bytes, int protection, int flags, int file, off_t offset) {
  bool const is_plain = is_explored() && at == nullptr && (flags & MAP_ANONYMOUS) != 0;
  return is_plain ? pages_for(bytes) : __real_mmap(at, bytes, protection, flags, file, offset);
}
int __real_munmap(void*, std::size_t);
int __wrap_munmap(void* at, std::size_t bytes) { return memories::all().hold(at) ? 0 : __real_munmap(at, bytes); }

/// Deadlines are never reached, as time stands still.
int __real_pthread_cond_clockwait(pthread_cond_t*, pthread_mutex_t*, clockid_t, timespec const*);
int __wrap_pthread_cond_clockwait(pthread_cond_t* condition, pthread_mutex_t* mutex, clockid_t clock,
                                  timespec const* until) {
  if (!is_explored()) return __real_pthread_cond_clockwait(condition, mutex, clock, until);
  wait_for_notice(condition, mutex);
  return 0;
}
void __real__ZNSt18condition_variable10notify_allEv(void*);
void __wrap__ZNSt18condition_variable10notify_allEv(void* condition) {
  is_explored() ? wake_all(condition) : __real__ZNSt18condition_variable10notify_allEv(condition);
}

int __real_sched_yield();
int __wrap_sched_yield() { return is_explored() ? 0 : __real_sched_yield(); }

int __wrap_sched_getcpu() { return -1; }

/// Time stands still.
std::int64_t __real__ZNSt6chrono3_V212steady_clock3nowEv();
std::int64_t __wrap__ZNSt6chrono3_V212steady_clock3nowEv() {
  return is_explored() ? 0 : __real__ZNSt6chrono3_V212steady_clock3nowEv();
}

unsigned long long coset_explored_ticks() noexcept { return is_explored() ? ticks() : __builtin_ia32_rdtsc(); }

long __real_syscall(long, ...);
/// Futexes and membarrier are the explorer's, as its threads are no threads of the system.
long __wrap_syscall(long number, ...) {
  std::va_list given;
  va_start(given, number);
  long const a = va_arg(given, long), b = va_arg(given, long), c = va_arg(given, long);
  long const d = va_arg(given, long), e = va_arg(given, long), f = va_arg(given, long);
  va_end(given);
  long result = 0;
  if (!is_explored() || (number != SYS_futex && number != SYS_membarrier)) {
    result = __real_syscall(number, a, b, c, d, e, f);
  } else if (number == SYS_membarrier) {
    if (!is_left_out(__builtin_return_address(0))) perform_fence_of_all();
  } else if ((b & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    sleep_on(reinterpret_cast<void const*>(a), static_cast<std::uint32_t>(c));
  } else {
    wake_all(reinterpret_cast<void const*>(a));
  }
  return result;
}
}
// NOLINTEND
