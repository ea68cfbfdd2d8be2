// SPDX-License-Identifier: Apache-2.0
// Arrays on a rank's node: zeroed, everywhere usable, and where they should be if the system lets them.
#include "coset/buffer.hpp"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <cstddef>
#include <fstream>
#include <limits>
#include <new>
#include <optional>
#include <sstream>

#include "cross/emulated.hpp"
#include "numa/child.hpp"
#include "numa/memory.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

static_assert(writable_elements<buffer<double>&> && elements<buffer<double> const&>);
static_assert(!writable_elements<buffer<double> const&>);
static_assert(std::movable<buffer<int>> && !std::copy_constructible<buffer<int>>);

constexpr std::size_t huge_page_bytes = std::size_t{2} << 20;

std::uintptr_t address(void const* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); }

/// Runs `body` on the only rank of a team.
void on_one_rank(std::function<void(member&)> const& body) {
  team alone({.ranks = 1});
  alone.run(body);
}

TEST(Buffer, OfAnyLengthIsZeroedAndStartsAPage) {
  on_one_rank([](member& me) {
    for (std::size_t const count : {1ul, 7ul, 512ul, 513ul, 100'000ul, huge_page_bytes / sizeof(double) + 1}) {
      buffer<double> numbers(me, count);
      ASSERT_EQ(numbers.size(), count);
      EXPECT_EQ(address(numbers.data()) % (count * sizeof(double) < huge_page_bytes ? 4096 : huge_page_bytes), 0u);
      EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 0.0), static_cast<std::ptrdiff_t>(count));
      std::fill(numbers.begin(), numbers.end(), 1.5);
      EXPECT_EQ(std::as_const(numbers)[count - 1], 1.5);
    }
  });
}

TEST(Buffer, OfNothingIsEmpty) {
  on_one_rank([](member& me) {
    EXPECT_TRUE(buffer<int>().empty());
    buffer<int> none(me, 0);
    EXPECT_TRUE(none.empty());
    EXPECT_EQ(none.begin(), none.end());
    allreduce(me, none);
  });
}

TEST(Buffer, MovesItsElements) {
  on_one_rank([](member& me) {
    buffer<int> first(me, 10);
    first[9] = 9;
    int* const data = first.data();
    buffer<int> second(std::move(first));
    EXPECT_TRUE(first.empty());
    EXPECT_EQ(first.data(), nullptr);
    buffer<int> third(me, 5);
    third = std::move(second);
    EXPECT_EQ(third.data(), data);
    EXPECT_EQ(third.size(), 10u);
    EXPECT_EQ(third[9], 9);
    EXPECT_TRUE(second.empty());
  });
}

TEST(Buffer, OfMoreElementsThanThereCanBeIsRefusedWithTheirNumberAndSize) {
  static constexpr std::size_t most = std::numeric_limits<std::size_t>::max();
  on_one_rank([](member& me) {
    for (std::size_t const count : {most, most / 8, most / 16 + 1}) {
      auto const refused = outcome_of([&] { buffer<double>(me, count); });
      expect_everybody_threw<argument_error>({refused}, {std::to_string(count), "8 bytes"});
    }
    EXPECT_THROW(buffer<double>(me, std::size_t{1} << 58), std::bad_alloc) << "two thirds of all addresses";
  });
}

TEST(Buffer, OutlivesItsTeam) {
  std::vector<buffer<long>> parts(3);
  {
    team ranks(options_for(3));
    ranks.run([&](member& me) {
      parts[me.rank()] = buffer<long>(me, 1000);
      std::fill(parts[me.rank()].begin(), parts[me.rank()].end(), me.rank() + 1);
    });
  }
  EXPECT_EQ(parts[0][999] + parts[1][999] + parts[2][999], 6);
}

TEST(Buffer, ServesCollectivesAsInputAndOutput) {
  team ranks(options_for(3));
  buffer<long> shared(topology::machine().nodes.front(), 3000);
  ranks.run([&](member& me) {
    buffer<long> in(me, 3000), out(me, 3000);
    std::fill(in.begin(), in.end(), me.rank() + 1);
    allreduce(me, std::as_const(in), out);
    EXPECT_EQ(std::count(out.begin(), out.end(), 6), 3000);
    reduce_shared(me, in, shared);
    EXPECT_EQ(std::count(shared.begin(), shared.end(), 6), 3000);
    broadcast(me, in, 2);
    EXPECT_EQ(std::count(in.begin(), in.end(), 3), 3000);
    start_allreduce(me, in, maximum{}).wait();
    EXPECT_EQ(std::count(in.begin(), in.end(), 3), 3000);
  });
}

/// On one node this says little; tests/vm says it on several.
TEST(Buffer, LiesOnTheNodeOfItsRank) {
  auto const machine = topology::machine();
  team ranks;
  ranks.run([&](member& me) {
    buffer<char> mine(me, 300'000);
    std::fill(mine.begin(), mine.end(), 1);
    if (!numa::node_of(mine.data())) GTEST_SKIP() << "the system does not tell where memory is";
    for (std::size_t at = 0; at < mine.size(); at += numa::page_bytes())
      ASSERT_EQ(numa::node_of(&mine[at]), machine.nodes[me.node()].os_index) << "byte " << at;
  });
}

/// What the kernel calls VmFlags of the mapping around an address: two letters each.
std::optional<std::string> flags_of_mapping(void const* inside) {
  std::ifstream mappings("/proc/self/smaps");
  bool here = false;
  for (std::string line; std::getline(mappings, line);) {
    std::uintptr_t begin = 0, end = 0;
    char dash = 0;
    std::istringstream range(line);
    if (range >> std::hex >> begin >> dash >> end && dash == '-')
      here = begin <= address(inside) && address(inside) < end;
    if (here && line.starts_with("VmFlags:")) return line;
  }
  return std::nullopt;
}

TEST(Buffer, AsksForHugePagesFromTwoMebibytes) {
  if (!std::ifstream("/sys/kernel/mm/transparent_hugepage/enabled")) GTEST_SKIP() << "a system without huge pages";
  on_one_rank([](member& me) {
    buffer<char> const large(me, huge_page_bytes), small(me, huge_page_bytes / 2);
    auto const flags = flags_of_mapping(large.data());
    if (!flags || test::emulated()) GTEST_SKIP() << "the system does not tell";
    EXPECT_NE(flags->find(" hg"), std::string::npos) << *flags;
    EXPECT_EQ(flags_of_mapping(small.data()).value_or("").find(" hg"), std::string::npos);
  });
}

TEST(Buffer, OnANodeThatDoesNotExistWorksAllTheSame) {
  buffer<int> numbers(numa_node{.os_index = 1000, .bytes = 0}, 1'000'000);
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), 0), 1'000'000);
}

/// From here on the kernel refuses whatever is about nodes of memory, as containers' filters do.
bool forbid_memory_policies() {
  auto const refused = [](unsigned call, unsigned char skip) {
    return sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, skip, 0);
  };
  std::array<sock_filter, 7> filter{sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                                    refused(SYS_mbind, 4),
                                    refused(SYS_set_mempolicy, 3),
                                    refused(SYS_get_mempolicy, 2),
                                    refused(SYS_move_pages, 1),
                                    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                                    sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM)};
  sock_fprog const program{filter.size(), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(Buffer, AndTeamsWorkWhereTheSystemBindsNoMemory) {
  if (!test::kernel_takes_filters()) GTEST_SKIP() << "no filter of system calls";
  EXPECT_TRUE(numa_test::in_child([] {
    numa::memory before(numa::page_bytes());
    if (!forbid_memory_policies()) throw std::runtime_error("the kernel takes no filter");
    if (before.bind(0, before.size(), topology::machine().nodes.front().os_index)) return false;
    std::atomic<int> right = 0;
    team ranks(options_for(3));
    ranks.run([&](member& me) {
      buffer<long> mine(me, 500'000);
      std::fill(mine.begin(), mine.end(), me.rank() + 1);
      allreduce(me, mine);
      right += std::count(mine.begin(), mine.end(), 6) == 500'000 ? 1 : 0;
    });
    return right == 3;
  }));
}

}  // namespace
}  // namespace coset::team_test
