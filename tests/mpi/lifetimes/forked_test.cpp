// SPDX-License-Identifier: Apache-2.0
// What a forked child may do with objects of a team over processes: a table of kinds, and one of what the child does. Each
// process forks, and the team works afterwards.
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "children.hpp"
#include "coset/coset_mpi.h"
#include "mpi/processes.hpp"

namespace coset::mpi_test {
namespace {

using test::ending_of;

/// An object, and what is done with it. use() throws what it is refused with.
struct held {
  virtual ~held() = default;
  virtual void use() = 0;
  /// In the parent, afterwards, on all processes: what is wrong.
  virtual std::string fault() = 0;
};

struct running : held {
  hybrid on{3};
  void use() override {
    on.all.run([](member& me) { barrier(me); });
  }
  std::string fault() override {
    return on.faults([](member& me) { return allreduce(me, 1) == static_cast<int>(me.size()) ? "" : "a wrong sum"; });
  }
};

struct making_plans : running {
  void use() override { plan<int> const made(on.all, verb::allreduce, 10); }
};

struct founding : running {
  void use() override { mpi::team const other(MPI_COMM_WORLD, on.threads); }
};

struct joining : held {
  std::unique_ptr<team> here = team::adopt(1);
  mpi::team all{MPI_COMM_WORLD, *here};
  void use() override { auto const me = all.join(0); }
  std::string fault() override {
    auto me = all.join(0);
    return allreduce(*me, 1) == processes() ? "" : "a wrong sum";
  }
};

struct resetting : joining {
  void use() override { all.reset(); }
};

struct guard : held {
  std::unique_ptr<team> here = team::adopt(1);
  mpi::team all{MPI_COMM_WORLD, *here};
  member_guard me{all.join(0)};
  void use() override { barrier(*me); }
  std::string fault() override { return allreduce(*me, 1) == processes() ? "" : "a wrong sum"; }
};

struct part : guard {
  member mine{me->split(0, 0)};
  void use() override { barrier(mine); }
  std::string fault() override { return allreduce(mine, 1) == processes() ? "" : "a wrong sum"; }
};

struct host_part : guard {
  member mine{me->node_team()};
  void use() override { barrier(mine); }
};

struct planned : guard {
  plan<int> made{all, verb::allreduce, 10};
  std::array<int, 10> values{};
  void use() override { made.execute(*me, values); }
  std::string fault() override {
    values.fill(1);
    made.execute(*me, values);
    return values[9] == processes() ? "" : "a wrong sum";
  }
};

struct in_flight : guard {
  std::array<int, 10> values = [] {
    std::array<int, 10> ones;
    ones.fill(1);
    return ones;
  }();
  request under_way{start_allreduce(*me, values)};
  void use() override { under_way.wait(); }
  std::string fault() override {
    under_way.wait();
    return values[9] == processes() ? guard::fault() : "a wrong sum";
  }
};

/// Of copies that the child has, too.
struct reducing : guard {
  std::vector<int> total = std::vector<int>(2'000);
  reducer<int> sum{total.size()};
  void add() { std::ranges::fill(sum.local(*me), 1); }
  void use() override {
    add();
    sum.combine_into(total, *me, combining::assign);
  }
  std::string fault() override {
    sum.reset();
    use();
    return std::ranges::count(total, processes()) == 2'000 ? "" : "a wrong sum";
  }
};

struct combining_in_flight : reducing {
  started_combination under_way = (add(), sum.start_combine_into(total, *me));
  void use() override { under_way.wait(); }
  std::string fault() override {
    under_way.wait();
    return std::ranges::count(total, processes()) == 2'000 ? reducing::fault() : "a wrong sum";
  }
};

void require(coset_status status) {
  if (status == COSET_ARGUMENT_ERROR) throw argument_error(coset_error_message());
  if (status != COSET_SUCCESS) throw std::runtime_error(coset_error_message());
}

struct c_team : held {
  coset_team* here = nullptr;
  coset_mpi_team* all = nullptr;
  coset_member* me = nullptr;
  c_team() {
    require(coset_team_adopt(1, nullptr, &here));
    require(coset_mpi_team_create(MPI_COMM_WORLD, here, nullptr, &all));
    require(coset_mpi_team_join(all, 0, &me));
  }
  ~c_team() override {
    require(coset_team_leave(me));
    require(coset_mpi_team_free(all));
    require(coset_team_free(here));
  }
  void use() override { require(coset_barrier(me)); }
  std::string fault() override {
    int sum = 1;
    require(coset_allreduce(me, &sum, &sum, 1, COSET_INT32, COSET_PLUS));
    return sum == processes() ? "" : "a wrong sum";
  }
};

template <class Kind>
std::unique_ptr<held> make() {
  return std::make_unique<Kind>();
}

struct kind {
  char const* name;
  std::unique_ptr<held> (*made)();
};
constexpr kind kinds[] = {
    {"Run", make<running>},       {"MakePlan", make<making_plans>}, {"Found", make<founding>},
    {"Join", make<joining>},      {"Reset", make<resetting>},       {"Member", make<guard>},
    {"SplitMember", make<part>},  {"HostTeam", make<host_part>},    {"Plan", make<planned>},
    {"Request", make<in_flight>}, {"Reducer", make<reducing>},      {"Combination", make<combining_in_flight>},
    {"C", make<c_team>}};

class Forked : public ::testing::TestWithParam<kind> {
 protected:
  std::unique_ptr<held> object = GetParam().made();

  bool is_refused() const {
    auto const [type, message] = outcome_of([&] { object->use(); });
    bool const in_words = type == type_name<argument_error>() && message.find("forked child") != std::string::npos;
    if (!in_words) std::fprintf(stderr, "in the child of process %d: %s\n", process(), message.c_str());
    return in_words;
  }
  /// At the child's exit, as an object with static storage would be.
  void destroy_at_exit() {
    static held* kept = nullptr;
    kept = object.release();
    std::atexit([] { delete kept; });
  }
};

TEST_P(Forked, AChildIsRefusedInWordsAndMayEndAsItLikes) {
  struct {
    char const* name;
    std::function<void()> act;
  } const acts[] = {
      {"uses it", [&] { _exit(is_refused() && is_refused() ? 3 : 4); }},
      {"destroys it", [&] { object.reset(), _exit(3); }},
      {"ends by exit()", [&] { destroy_at_exit(), exit(3); }},
      {"cannot start a program, and ends by exit()",
       [&] {
         destroy_at_exit();
         execl("/no/such/program", "program", nullptr);
         exit(3);
       }},
      {"ends by _exit()", [] { _exit(3); }},
  };
  std::string fault;
  for (auto const& each : acts) {
    if (auto const ending = ending_of(each.act); ending != "status 3")
      fault = std::string("the child ") + each.name + ": " + ending;
  }
  auto const [type, message] = outcome_of([&] {
    if (auto const wrong = object->fault(); !wrong.empty()) fault = wrong;
  });
  if (!type.empty()) fault = message;
  EXPECT_EQ(said_anywhere(fault), "");
}

INSTANTIATE_TEST_SUITE_P(Kinds, Forked, ::testing::ValuesIn(kinds),
                         [](auto const& each) { return std::string(each.param.name); });

/// Of every thread in turn: calls are refused, and what the child leaves undone is not done.
TEST(ForkedInABody, AChildIsRefusedAndSendsNothing) {
  hybrid on(3);
  std::string fault;
  pid_t const parent = getpid();
  auto const forked = [&](member& me, bool throws) {
    pid_t const child = fork();
    if (child == 0) {
      alarm(60);
      auto const refused = outcome_of([&] { barrier(me); });
      if (refused.message.find("forked child") == std::string::npos) _exit(4);
      if (!throws) exit(3);
      return true;
    }
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) fault = "the child ended with " + std::to_string(status);
    return false;
  };
  constexpr rank_t most_threads = 4;  // some processes have fewer
  for (rank_t thread = 0; thread < most_threads; ++thread) {
    auto const left = outcome_of([&] {
      on.all.run([&](member& me) {
        rank_t const self = me.rank() - on.all.first();
        if (self == thread && (forked(me, false) || (thread == 0 && forked(me, true)))) return;
        for (int k = 0; k < 3; ++k) {
          if (allreduce(me, 1) != static_cast<int>(me.size())) fault = "a wrong sum";
        }
      });
    });
    if (getpid() != parent) _exit(left.message.find("forked child") != std::string::npos ? 3 : 5);
    if (!left.message.empty()) fault = left.message;
  }
  EXPECT_EQ(said_anywhere(fault), "");
  on.expect_works();
}

}  // namespace
}  // namespace coset::mpi_test
