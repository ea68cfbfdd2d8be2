// SPDX-License-Identifier: Apache-2.0
// Guarantee 8: once it has run, a collective neither allocates nor enters the kernel, as long as no rank has to sleep.
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <coset/coset.hpp>

#include <array>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <span>
#include <vector>

#include "cross/emulated.hpp"
#include "support/counted_new.hpp"

namespace coset::team_test {
namespace {

constexpr std::array<std::size_t, 6> counts{0, 1, 20, 1000, 40000, 400000};

/// Arrays of a rank, made once.
struct arrays {
  explicit arrays(rank_t ranks) : in(counts.back() * ranks, 1.0f), out(in.size()) {}
  std::vector<float> in, out;
  std::vector<std::size_t> of_each;
};

/// Every verb once, in every class of storage. Four times is every length in every channel of split phase.
void call_everything(member& me, arrays& a, std::vector<float>& shared) {
  for (std::size_t const count : counts) {
    std::size_t const pieces = count * me.size();
    std::span const in(a.in.data(), count), out(a.out.data(), count);
    std::span const all_in(a.in.data(), pieces), all_out(a.out.data(), pieces);
    allreduce(me, in, out);
    allreduce(me, out, maximum{});
    reduce_shared(me, in, std::span(shared.data(), count));
    (void)allreduce_view(me, in);
    reduce(me, in, out, 0);
    reduce_scatter(me, all_in, out);
    allgather(me, in, all_out);
    broadcast(me, out, me.size() - 1);
    gather(me, in, all_out, me.size() - 1);
    scatter(me, all_in, out, 0);
    all_to_all(me, all_in, all_out);
    scan(me, in, out);
    exclusive_scan(me, in, out);
    a.of_each.assign(me.size(), count);
    all_to_all(me, all_in, all_out, a.of_each, a.of_each);
    double value = allreduce(me, 1.0);
    allreduce(me, together(out, value), maximum{});
    request under_way = start_allreduce(me, in, out);
    barrier(me);
    under_way.wait();
  }
}

TEST(Quiet, NothingIsAllocatedOnceItHasRun) {
  team ranks({.ranks = 2, .place = placement::unbound});
  std::vector<float> shared(counts.back());
  std::size_t before = 0, after = 1;
  ranks.run([&](member& me) {
    arrays mine(me.size());
    for (int k = 0; k < 4; ++k) call_everything(me, mine, shared);
    barrier(me);
    if (me.rank() == 0) before = test::allocations();
    barrier(me);
    for (int k = 0; k < 5; ++k) call_everything(me, mine, shared);
    barrier(me);
    if (me.rank() == 0) after = test::allocations();
    barrier(me);
  });
  EXPECT_EQ(after, before);
}

/// From here on the kernel kills the thread for any call but write and exit. The strict mode would take away the time stamp
/// counter, too, which learning reads.
void forbid_system_calls() {
  std::array<sock_filter, 5> steps{sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                   sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
                                   sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
                                   sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_THREAD),
                                   sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
  sock_fprog const filter{steps.size(), steps.data()};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
    std::abort();
}

[[noreturn]] void end_thread() {
  for (;;) syscall(SYS_exit, 0);
}

[[noreturn]] void child(int report) {
  team ranks({.ranks = 2, .place = placement::unbound, .wait = waiting::spin});
  std::vector<float> shared(counts.back());
  ranks.run([&](member& me) {
    arrays mine(me.size());
    for (int k = 0; k < 4; ++k) call_everything(me, mine, shared);
    forbid_system_calls();
    for (int k = 0; k < 5; ++k) call_everything(me, mine, shared);
    if (me.rank() == 0 && write(report, "quiet", 5) != 5) end_thread();
    end_thread();
  });
  std::abort();
}

/// In a child, since what the kernel does to a thread that calls it cannot be undone.
TEST(Quiet, TheKernelIsNotEnteredOnceItHasRun) {
  if (!test::kernel_takes_filters()) GTEST_SKIP() << "no filter of system calls";
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  pid_t const pid = fork();
  if (pid == 0) child(pipe_ends[1]);
  close(pipe_ends[1]);
  pollfd ready{pipe_ends[0], POLLIN, 0};
  bool const told = poll(&ready, 1, 60'000) == 1;
  std::array<char, 8> word{};
  EXPECT_EQ(told ? read(pipe_ends[0], word.data(), word.size()) : -1, 5) << "a rank called the kernel";
  EXPECT_STREQ(word.data(), "quiet");
  kill(pid, SIGKILL);
  waitpid(pid, nullptr, 0);
  close(pipe_ends[0]);
}

}  // namespace
}  // namespace coset::team_test
