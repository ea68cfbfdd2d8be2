// SPDX-License-Identifier: Apache-2.0
// A part of a process, program or plugin, that uses every kind of object: each has a copy of coset, or shares one.
#include <dlfcn.h>
#include <omp.h>

#include <coset/coset.h>
#include <coset/coset_reducer.h>
#include <array>
#include <coset/coset.hpp>
#include <coset/omp.hpp>
#include <coset/plan.hpp>
#include <exception>
#include <numeric>
#include <vector>
#ifdef WITH_TBB
#include <coset/tbb.hpp>
#endif

#include "copy.hpp"

/// Another part of the process may have another operation of this name.
struct operation_of_part {
#ifdef TAKES_LARGEST
  static constexpr long of_1_and_2 = 2;
  long operator()(long a, long b) const { return a < b ? b : a; }
#else
  static constexpr long of_1_and_2 = 3;
  long operator()(long a, long b) const { return a + b; }
#endif
};

namespace {

constexpr std::size_t elements = 8;

struct larger {
  long operator()(long a, long b) const { return a < b ? b : a; }
};

template <class T>
struct total : std::vector<T> {
  total() : std::vector<T>(elements) {}
};

/// Whatever adds: each is as old as the part, and its threads are those of the process.
struct reducers {
  coset::reducer<long> dense{elements};
  coset::sparse_reducer<long> sparse{elements};
  total<long> first;
  double second = 0;
  coset::joint_reducer<long, coset::value_of<double>> joint{first, second};
  total<long> of_region;
  coset::omp::reduction<long> region{of_region};
#ifdef WITH_TBB
  coset::tbb::reducer<long> of_tasks{elements};
#endif
  coset_reducer* in_c = nullptr;

  reducers() { coset_reducer_create(elements, COSET_INT64, COSET_PLUS, nullptr, nullptr, &in_c); }
  ~reducers() { coset_reducer_free(in_c); }

  void add_one() {
    dense.local()[0] += 1;
    sparse.local()[0] += 1;
    auto [integers, real] = joint.local();
    integers[0] += 1;
    real += 1;
    region.local()[0] += 1;
#ifdef WITH_TBB
    of_tasks.local()[0] += 1;
#endif
    void* there = nullptr;
    coset_reducer_local(in_c, 0, 1, &there);
    *static_cast<long*>(there) += 1;
  }

  char const* what_is_wrong(long added) {
    total<long> sum;
    dense.combine_into(sum);
    if (sum[0] != added) return "reducer";
    sum = {};
    sparse.combine_into(sum);
    if (sum[0] != added) return "sparse_reducer";
    joint.combine();
    if (first[0] != added || second != double(added)) return "joint_reducer";
    region.combine();
    if (of_region[0] != added) return "omp::reduction";
#ifdef WITH_TBB
    sum = {};
    of_tasks.combine_into(sum);
    if (sum[0] != added) return "tbb::reducer";
    {
      coset::tbb::arenas nodes;
      coset::tbb::reducer<long> of_nodes(elements);
      nodes.run([&](std::size_t) { of_nodes.local()[0] += 1; });
      sum = {};
      of_nodes.combine_into(sum, nodes);
      if (sum[0] != long(nodes.size())) return "tbb::arenas";
    }
#endif
    sum = {};
    coset_reducer_combine(in_c, sum.data(), nullptr);
    return sum[0] == added ? nullptr : "coset_reducer";
  }
};

reducers& mine() {
  static reducers all;
  return all;
}

/// Of each rank, with what all ranks get.
struct verbs {
  coset::team& ranks;
  coset::plan<long> const sum{ranks, coset::verb::allreduce, elements};

  char const* what_is_wrong(coset::member& me) const {
    long const rank = me.rank();
    std::vector<long> x(elements, rank + 1);
    coset::allreduce(me, x);
    if (x[7] != 3) return "allreduce";
    coset::allreduce(me, x = std::vector<long>(elements, rank), larger{});
    if (x[7] != 1) return "allreduce by a user's operation";
    coset::allreduce(me, x = std::vector<long>(elements, rank + 1), operation_of_part{});
    if (x[7] != operation_of_part::of_1_and_2) return "allreduce by an operation that has a name";
    coset::start_allreduce(me, x = std::vector<long>(elements, rank + 1), larger{}).wait();
    if (x[7] != 2) return "request";
    sum.execute(me, x = std::vector<long>(elements, rank + 1));
    if (x[7] != 3) return "plan";
    long largest = rank;
    coset::allreduce(me, coset::together(coset::into(x, coset::plus{}), coset::into(largest, larger{})));
    return x[7] == 6 && largest == 1 ? nullptr : "together";
  }
};

char const* what_is_wrong_with_teams() {
  coset::team ranks({.ranks = 2});
  verbs const all{ranks};
  std::array<char const*, 2> wrong{};
  ranks.run([&](coset::member& me) { wrong[me.rank()] = all.what_is_wrong(me); });
  std::array<char const*, 2> of_region{};
#pragma omp parallel num_threads(2)
  {
    coset::omp::member_here me;
    of_region[static_cast<std::size_t>(omp_get_thread_num())] = all.ranks.size() == 2 ? nullptr : "member_here";
    long one = 1;
    coset::allreduce(me, std::span(&one, 1));
    if (one != 2) of_region[static_cast<std::size_t>(omp_get_thread_num())] = "member_here";
  }
  for (char const* each : {wrong[0], wrong[1], of_region[0], of_region[1]})
    if (each != nullptr) return each;
  return nullptr;
}

int body_in_c(coset_member* me, void* context) {
  long one = 1;
  coset_status const status = coset_allreduce(me, &one, &one, 1, COSET_INT64, COSET_PLUS);
  if (one != 2) *static_cast<char const**>(context) = "coset_allreduce";
  return status;
}

char const* what_is_wrong_in_c() {
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = 2;
  coset_team* ranks = nullptr;
  char const* wrong = nullptr;
  if (coset_team_create(&options, &ranks) != COSET_SUCCESS || coset_team_run(ranks, body_in_c, &wrong) != COSET_SUCCESS)
    return coset_error_message();
  coset_team_free(ranks);
  return wrong;
}

char const* what_is_wrong(int added) {
  try {
    if (char const* const wrong = mine().what_is_wrong(added)) return wrong;
    if (char const* const wrong = what_is_wrong_with_teams()) return wrong;
    return what_is_wrong_in_c();
  } catch (std::exception const& error) {
    static std::string said;
    said = error.what();
    return said.c_str();
  }
}

template <class Function>
char const* file_of(Function* function) {
  Dl_info where;
  return dladdr(reinterpret_cast<void*>(function), &where) == 0 ? "?" : where.dli_fname;
}

void fail() { coset::reducer<long>(elements).combine_into({}); }

bool recognises(void (*fails)()) {
  try {
    fails();
  } catch (coset::argument_error const&) {
    return true;
  } catch (std::exception const&) {
  }
  return false;
}

}  // namespace

extern "C" part_with_coset const* coset_of_part() {
  static part_with_coset const part{[] { mine().add_one(); },
                                    what_is_wrong,
                                    [] { return file_of(coset_version); },
                                    [] { return file_of(coset::detail::plain_fold<long, coset::plus>); },
                                    fail,
                                    recognises};
  return &part;
}
