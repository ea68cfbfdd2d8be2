// SPDX-License-Identifier: Apache-2.0
#include "torture/misfortunes.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cfenv>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "coset/coset.hpp"

namespace coset::torture {
namespace {

/// In all threads of the process from now on. False where the kernel has no filters.
bool refuse_calls(std::vector<long> const& numbers, int error) {
  std::vector<sock_filter> steps{BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))};
  for (long const number : numbers) {
    steps.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(number), 0, 1));
    steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (static_cast<unsigned>(error) & SECCOMP_RET_DATA)));
  }
  steps.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog const filter{static_cast<unsigned short>(steps.size()), steps.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &filter) == 0;
}

void refuse_some(trial& t) {
  constexpr std::array<long, 15> calls{SYS_membarrier,
                                       SYS_mbind,
                                       SYS_memfd_create,
                                       449 /* futex_waitv */,
                                       SYS_sched_setaffinity,
                                       SYS_sched_getaffinity,
                                       SYS_move_pages,
                                       SYS_set_mempolicy,
                                       SYS_get_mempolicy,
                                       SYS_madvise,
                                       SYS_getcpu,
                                       SYS_sched_yield,
                                       SYS_fallocate,
                                       SYS_prlimit64,
                                       SYS_clone3};
  constexpr std::array errors{EPERM, ENOSYS, EINVAL, EACCES};
  std::vector<long> chosen;
  for (std::uint32_t number = 1 + t.draw(3); number > 0; --number) chosen.push_back(calls[t.draw(calls.size())]);
  refuse_calls(chosen, errors[t.draw(errors.size())]);
}

std::size_t address_space() {
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

void limit_address_space(trial& t) {
  constexpr std::array spare{0u, 1u, 4u, 9u, 17u, 40u, 100u};
  rlimit limit{};
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = address_space() + std::size_t{spare[t.draw(spare.size())]} * 1024 * 1024;
  setrlimit(RLIMIT_AS, &limit);
}

/// Some threads more, then none: of a user that nobody else is, or else none at all.
void limit_threads(trial& t, bool may_be_another_user) {
  std::uint32_t const spare = t.draw(4);
  if (may_be_another_user && geteuid() == 0 && spare > 0) {
    rlimit const limit{spare, spare};
    unsigned const user = 700'000 + static_cast<unsigned>(getpid());
    if (setrlimit(RLIMIT_NPROC, &limit) == 0 && setresuid(user, user, user) == 0) return;
  }
  refuse_calls({SYS_clone, SYS_clone3}, EAGAIN);
}

template <class Each>
void for_each_thread(Each each) {
  DIR* const threads = opendir("/proc/self/task");
  if (threads == nullptr) return;
  while (dirent const* const entry = readdir(threads)) {
    if (pid_t const id = std::atoi(entry->d_name); id > 0) each(id);
  }
  closedir(threads);
}

void narrow_processors(trial& t) {
  cpu_set_t all, one;
  if (sched_getaffinity(0, sizeof all, &all) != 0) return;
  std::vector<int> there;
  for (int c = 0; c < CPU_SETSIZE; ++c)
    if (CPU_ISSET(c, &all)) there.push_back(c);
  CPU_ZERO(&one);
  CPU_SET(there[t.draw(static_cast<std::uint32_t>(there.size()))], &one);
  for_each_thread([&](pid_t id) { sched_setaffinity(id, sizeof one, &one); });
}

/// Where the launcher has made it small, so that it is this case's alone.
void fill_shared_memory() {
  constexpr std::size_t small = 64 * 1024 * 1024;
  struct statvfs there {};
  if (statvfs("/dev/shm", &there) != 0 || there.f_blocks * there.f_frsize > small) return;
  int const file = open("/dev/shm/of-another-program", O_RDWR | O_CREAT, 0600);
  std::vector<char> const bytes(1 << 20, 1);
  while (write(file, bytes.data(), bytes.size()) > 0) {
  }
  close(file);
}

void nothing(int) {}

/// Signals that interrupt whatever thread they meet, every 200 µs of time and 50 µs of work; the struck rank sends more to each.
void storm() {
  struct sigaction action {};
  action.sa_handler = nothing;  // without SA_RESTART
  for (int const signal : {SIGALRM, SIGPROF, SIGUSR2}) sigaction(signal, &action, nullptr);
  itimerval const often{{0, 200}, {0, 200}}, at_work{{0, 50}, {0, 50}};
  setitimer(ITIMER_REAL, &often, nullptr);
  setitimer(ITIMER_PROF, &at_work, nullptr);
}

void interrupt_everybody() {
  for (int k = 0; k < 20; ++k) for_each_thread([](pid_t id) { syscall(SYS_tgkill, getpid(), id, SIGUSR2); });
}

void change_mode(trial& t) {
  constexpr std::array roundings{FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
#if defined(__x86_64__)
  if (t.draw(2) == 0) return _mm_setcsr(_mm_getcsr() | 0x8040);  // flush to zero, denormals are zero
#endif
  std::fesetround(roundings[t.draw(roundings.size())]);
}

/// By exit(): what is static ends.
[[noreturn]] void end(trial const& t, int status) {
  // oneTBB's own end crashes in its threads.
  if (t.where.team == team_kind::tasks) std::thread([=] { std::exit(status); }).join();
  std::exit(status);
}

/// What a child does with what it has of its parent: 0 where that was right.
int as_child(trial const& t, std::uint32_t what, member* me) {
  alarm(8);
  switch (what) {
    case 0:
      return 0;
    case 1:
      if (me == nullptr) return 0;
      try {
        barrier(*me);
      } catch (error const&) {
        return 0;
      }
      return 1;
    case 2: {
      execl("/no/such/program", "none", nullptr);
      end(t, 0);
    }
    default: {
      int sum = 0;
      team fresh({.ranks = 2, .place = placement::unbound});
      fresh.run([&](member& mine) {
        int const all = allreduce(mine, 1);
        if (mine.rank() == 0) sum = all;
      });
      return sum == 2 ? 0 : 2;
    }
  }
}

void fork_child(trial& t, member* me) {
  std::uint32_t const what = t.draw(4);
  pid_t const child = fork();
  if (child == 0) {
    int status = 3;
    try {
      status = as_child(t, what, me);
    } catch (...) {
    }
    _exit(status);
  }
  if (child < 0) return;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return;
  constexpr std::array<std::string_view, 4> names{"ends", "calls barrier()", "ends by exit()", "makes a team"};
  t.said.wrong("a forked child that " + std::string(names[what]) + " ended with status " + std::to_string(status));
}

}  // namespace

void befall_before(trial& t) {
  bool const either = t.salt % 2 == 0;
  switch (t.where.what) {
    case fault::interruptions:
      return storm();
    case fault::refused_calls:
      return refuse_some(t);
    case fault::address_space:
      return limit_address_space(t);
    case fault::threads:
      if (either) limit_threads(t, t.where.team != team_kind::processes);
      return;
    case fault::processors:
      if (either) narrow_processors(t);
      return;
    default:
      return;
  }
}

void befall_during(trial& t, member* me) {
  t.said.struck = true;
  switch (t.where.what) {
    case fault::fork:
      return fork_child(t, me);
    case fault::exit:
      end(t, by_exit);
    case fault::exec: {
      int const everything = open("/proc/self/exe", O_RDONLY);
      std::array<char*, 3> words{const_cast<char*>("torture"), const_cast<char*>(after_exec), nullptr};
      fexecve(everything, words.data(), environ);
      std::_Exit(99);
    }
    case fault::kill:
      kill(getpid(), SIGKILL);
      return;
    case fault::full_memory:
      if (t.where.team == team_kind::processes) return fill_shared_memory();
      refuse_calls({SYS_mmap, SYS_mremap}, ENOMEM);
      refuse_calls({SYS_brk}, 0);  // it returns where memory ends, and that is where no library wants it
      return;
    case fault::threads:
      return limit_threads(t, false);
    case fault::modes:
      return change_mode(t);
    case fault::interruptions:
      return interrupt_everybody();
    case fault::processors:
      return narrow_processors(t);
    case fault::refused_calls:
      return refuse_some(t);
    case fault::address_space:
      return limit_address_space(t);
  }
}

void relieve(trial& t) {
  if (t.where.what != fault::interruptions) return;
  itimerval const never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  setitimer(ITIMER_PROF, &never, nullptr);
}

}  // namespace coset::torture
