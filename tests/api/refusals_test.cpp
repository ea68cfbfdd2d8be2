// SPDX-License-Identifier: Apache-2.0
// What C refuses, C++ refuses: the same wrong calls through both, with the same words.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "coset/c_member.hpp"
#include "coset/coset.hpp"

namespace coset::inline COSET_ABI {
namespace {

using ::testing::HasSubstr;

constexpr rank_t ranks = 3, nobody = 3;
constexpr std::size_t enormous = std::numeric_limits<std::size_t>::max() / 4;

/// What one rank says of a call; empty if it takes it.
std::string said(std::function<void()> const& call) {
  try {
    call();
  } catch (argument_error const& refused) {
    return refused.what();
  }
  return "";
}
std::string said(coset_status status) {
  if (status == COSET_SUCCESS) return "";
  return status == COSET_ARGUMENT_ERROR ? coset_error_message() : coset_status_name(status);
}

/// One rank's arrays: of a piece, and of all pieces.
struct arrays {
  std::vector<double> piece = std::vector<double>(2), all = std::vector<double>(2 * ranks);
  std::vector<std::size_t> counts = std::vector<std::size_t>(ranks, 2);
  std::vector<std::size_t> overflowing{enormous, std::numeric_limits<std::size_t>::max() - enormous, 7};
  std::span<double> none{static_cast<double*>(nullptr), 2};  // 2 elements that are not there
  std::span<double> none_of_all{static_cast<double*>(nullptr), 2 * ranks};
  std::span<double> endless{piece.data(), enormous};
};

/// A call by every rank, which every rank refuses.
struct wrong_verb {
  char const* name;
  char const* words;
  std::function<coset_status(coset_member*, arrays&)> in_c;
  std::function<void(member&, arrays&)> in_cpp;
};
std::ostream& operator<<(std::ostream& to, wrong_verb const& of) { return to << of.name; }

auto* const add = static_cast<double (*)(double, double)>(nullptr);
constexpr coset_type f64 = COSET_FLOAT64;

class Verbs : public ::testing::TestWithParam<wrong_verb> {};

TEST_P(Verbs, AreRefusedToCAndCpp) {
  team all({.ranks = ranks, .place = placement::unbound});
  auto const expect_refusals = [&](std::function<std::string(member&, arrays&)> const& call) {
    std::vector<std::string> words(ranks);
    (void)said([&] {
      all.run([&](member& me) {
        arrays mine;
        words[me.rank()] = call(me, mine);
      });
    });
    EXPECT_THAT(words, ::testing::Each(HasSubstr(GetParam().words)));
  };
  if (GetParam().in_c)
    expect_refusals([](member& me, arrays& mine) { return said(GetParam().in_c(c_member(me), mine)); });
  expect_refusals([](member& me, arrays& mine) { return said([&] { GetParam().in_cpp(me, mine); }); });
}

INSTANTIATE_TEST_SUITE_P(
    Refused, Verbs,
    ::testing::ValuesIn(std::vector<wrong_verb>{
        {"input_is_null", "the input of rank",
         [](auto* me, auto& a) { return coset_allreduce(me, nullptr, a.piece.data(), 2, f64, COSET_PLUS); },
         [](auto& me, auto& a) { allreduce(me, a.none, a.piece); }},
        {"output_is_null", "the output of rank",
         [](auto* me, auto& a) { return coset_allgather(me, a.piece.data(), nullptr, 2, f64); },
         [](auto& me, auto& a) { allgather(me, a.piece, a.none_of_all); }},
        {"in_place_in_null", "of rank",
         [](auto* me, auto&) { return coset_allreduce(me, COSET_IN_PLACE, nullptr, 2, f64, COSET_PLUS); },
         [](auto& me, auto& a) { allreduce(me, a.none); }},
        {"what_is_broadcast_is_null", "of rank",
         [](auto* me, auto&) { return coset_broadcast(me, nullptr, 2, f64, 0); },
         [](auto& me, auto& a) { broadcast(me, a.none, 0); }},
        {"what_is_viewed_is_null", "the input of rank",
         [](auto* me, auto&) {
           void const* view = nullptr;
           return coset_allreduce_view(me, nullptr, 2, f64, COSET_PLUS, &view);
         },
         [](auto& me, auto& a) { (void)allreduce_view(me, a.none); }},
        {"what_starts_is_null", "the input of rank",
         [](auto* me, auto& a) {
           coset_request started = {};
           return coset_start_scan(me, nullptr, a.piece.data(), 2, f64, COSET_PLUS, &started);
         },
         [](auto& me, auto& a) { (void)start_scan(me, a.none, a.piece); }},
        {"pieces_to_exchange_are_null", "the input of rank",
         [](auto* me, auto& a) {
           return coset_all_to_all_counts(me, nullptr, a.all.data(), a.counts.data(), a.counts.data(), f64);
         },
         [](auto& me, auto& a) { all_to_all(me, a.none_of_all, a.all, a.counts, a.counts); }},
        {"array_together_is_null", "the array of rank", nullptr,
         [](auto& me, auto& a) { allreduce(me, together(a.piece, a.none)); }},
        {"no_root_to_reduce", "there is no root 3",
         [](auto* me, auto& a) { return coset_reduce(me, a.piece.data(), a.all.data(), 2, f64, COSET_PLUS, nobody); },
         [](auto& me, auto& a) { reduce(me, a.piece, nobody); }},
        {"no_root_to_gather", "there is no root 3",
         [](auto* me, auto& a) { return coset_gather(me, a.piece.data(), a.all.data(), 2, f64, nobody); },
         [](auto& me, auto& a) { gather(me, a.piece, a.all, nobody); }},
        {"too_many_elements", "too many",
         [](auto* me, auto& a) { return coset_allreduce(me, a.piece.data(), a.all.data(), enormous, f64, COSET_PLUS); },
         [](auto& me, auto& a) { allreduce(me, a.endless); }},
        {"counts_that_overflow", "too many",
         [](auto* me, auto& a) {
           return coset_reduce_scatter_counts(me, a.all.data(), a.piece.data(), a.overflowing.data(), COSET_INT8,
                                              COSET_PLUS);
         },
         [](auto& me, auto& a) { reduce_scatter(me, a.all, a.piece, a.overflowing); }},
        {"counts_to_gather_that_overflow", "too many",
         [](auto* me, auto& a) {
           return coset_allgather_counts(me, a.piece.data(), a.all.data(), a.overflowing.data(), COSET_INT8);
         },
         [](auto& me, auto& a) {
           a.overflowing[me.rank()] = 2;
           a.overflowing[(me.rank() + 1) % ranks] = a.overflowing[(me.rank() + 2) % ranks] =
               std::numeric_limits<std::size_t>::max() - 1;
           allgather(me, a.piece, a.all, a.overflowing);
         }},
        {"operation_is_null", "operation",
         [](auto*, auto&) {
           coset_operation made = 0;
           return coset_operation_create("none", nullptr, nullptr, 8, 0, &made);
         },
         [](auto& me, auto& a) { allreduce(me, a.piece, add); }},
    }),
    [](auto const& of) { return std::string(of.param.name); });

/// A call without ranks.
struct wrong_call {
  char const* name;
  char const* words;
  std::function<coset_status()> in_c;
  std::function<void()> in_cpp;
};
std::ostream& operator<<(std::ostream& to, wrong_call const& of) { return to << of.name; }

/// Does something with a reducer of 10 int.
template <class Use>
coset_status with_reducer(bool sparse, Use use) {
  coset_reducer* made = nullptr;
  coset_reducer_options options = COSET_REDUCER_OPTIONS;
  options.block_bytes = sparse ? 64 : 0;
  EXPECT_EQ(coset_reducer_create(10, COSET_INT32, COSET_PLUS, nullptr, &options, &made), COSET_SUCCESS);
  coset_status const status = use(made);
  coset_reducer_free(made);
  return status;
}
template <class Use>
coset_status with_team(Use use) {
  coset_team_options options = COSET_TEAM_OPTIONS;
  coset_team* made = nullptr;
  options.ranks = ranks;
  options.placement = COSET_UNBOUND;
  EXPECT_EQ(coset_team_create(&options, &made), COSET_SUCCESS);
  coset_status const status = use(made);
  coset_team_free(made);
  return status;
}
coset_status part_in_c(std::uint32_t part, std::uint32_t parts) {
  return with_reducer(false, [&](coset_reducer* sum) {
    std::array<int, 10> into{};
    return coset_reducer_combine_part(sum, into.data(), part, parts);
  });
}
void part_in_cpp(std::size_t part, std::size_t parts) {
  std::vector<int> into(10);
  reducer<int>(10).combine_part(into, part, parts);
}
coset_status plan_in_c(coset_verb what, std::size_t count, std::int32_t kind_of_bits, rank_t root) {
  return with_team([&](coset_team* all) {
    coset_plan_options options = COSET_PLAN_OPTIONS;
    options.bits = kind_of_bits;
    options.root = root;
    coset_plan* made = nullptr;
    return coset_plan_create(all, what, count, f64, COSET_PLUS, &options, &made);
  });
}
void plan_in_cpp(verb what, std::size_t count, bits kind_of_bits, rank_t root) {
  team all({.ranks = ranks, .place = placement::unbound});
  (void)make_plan<double>(all, what, count, plus{}, {.required = kind_of_bits, .root = root});
}

class Calls : public ::testing::TestWithParam<wrong_call> {};

TEST_P(Calls, AreRefusedToCAndCpp) {
  if (GetParam().in_c) {
    EXPECT_THAT(said(GetParam().in_c()), HasSubstr(GetParam().words));
  }
  EXPECT_THAT(said(GetParam().in_cpp), HasSubstr(GetParam().words));
}

INSTANTIATE_TEST_SUITE_P(
    Refused, Calls,
    ::testing::ValuesIn(std::vector<wrong_call>{
        {"part_beyond", "part 5 of 3", [] { return part_in_c(5, 3); }, [] { part_in_cpp(5, 3); }},
        {"part_after_the_last", "part 3 of 3", [] { return part_in_c(3, 3); }, [] { part_in_cpp(3, 3); }},
        {"part_of_none", "part 0 of 0", [] { return part_in_c(0, 0); }, [] { part_in_cpp(0, 0); }},
        {"part_of_a_sparse_reducer", "part 0 of 0",
         [] {
           return with_reducer(true, [](auto* sum) {
             std::array<int, 10> into{};
             return coset_reducer_combine_part(sum, into.data(), 0, 0);
           });
         },
         [] {
           std::vector<int> into(10);
           sparse_reducer<int>(10).combine_part(into, 0, 0);
         }},
        {"part_of_several_arrays", "part 2 of 2",
         [] {
           coset_reduced const one{4, COSET_INT32, COSET_PLUS, nullptr};
           coset_joint_reducer* made = nullptr;
           EXPECT_EQ(coset_joint_reducer_create(&one, 1, &made), COSET_SUCCESS);
           std::array<int, 4> array{};
           void* into = array.data();
           coset_status const status = coset_joint_reducer_combine_part(made, &into, 1, 2, 2);
           coset_joint_reducer_free(made);
           return status;
         },
         [] {
           std::vector<int> into(4);
           joint_reducer<int>(into).combine_part(2, 2);
         }},
        {"nothing_to_combine_into", "the array to combine into is NULL",
         [] { return with_reducer(false, [](auto* sum) { return coset_reducer_combine(sum, nullptr, nullptr); }); },
         [] { reducer<int>(10).combine_into(std::span<int>(static_cast<int*>(nullptr), 10)); }},
        {"nothing_to_combine_into_by_ranks", "the array to combine into is NULL", nullptr,
         [] {
           team all({.ranks = ranks, .place = placement::unbound});
           reducer<int> sum(10);
           all.run([&](member& me) { sum.combine_into(std::span<int>(static_cast<int*>(nullptr), 10), me); });
         }},
        {"elements_beyond_a_sparse_reducer", "elements [8, 8 + 3) of a reducer of 10",
         [] {
           void* mine = nullptr;
           return with_reducer(true, [&](auto* sum) { return coset_reducer_local(sum, 8, 3, &mine); });
         },
         [] { (void)sparse_reducer<int>(10).local().span(8, 3); }},
        {"root_of_a_plan", "root 3", [] { return plan_in_c(COSET_VERB_REDUCE, 6, 0, nobody); },
         [] { plan_in_cpp(verb::reduce, 6, bits::same_on_all_ranks, nobody); }},
        {"verb_of_a_plan", "there is no verb 77", [] { return plan_in_c(coset_verb(77), 6, 0, 0); },
         [] { plan_in_cpp(verb(77), 6, bits::same_on_all_ranks, 0); }},
        {"bits_of_a_plan", "there is no kind of bits 9", [] { return plan_in_c(COSET_VERB_REDUCE, 6, 9, 0); },
         [] { plan_in_cpp(verb::reduce, 6, bits(9), 0); }},
        {"length_of_a_plan", "too many", [] { return plan_in_c(COSET_VERB_ALLREDUCE, enormous, 0, 0); },
         [] { plan_in_cpp(verb::allreduce, enormous, bits::same_on_all_ranks, 0); }},
        {"operation_of_a_plan", "operation",
         [] {
           coset_operation made = 0;
           return coset_operation_create("none", nullptr, nullptr, 8, 0, &made);
         },
         [] {
           team all({.ranks = ranks, .place = placement::unbound});
           (void)make_plan<double>(all, 6, add);
         }},
        {"placement", "there is no placement 9",
         [] {
           coset_team_options options = COSET_TEAM_OPTIONS;
           options.placement = 9;
           coset_team* made = nullptr;
           return coset_team_create(&options, &made);
         },
         [] { team({.ranks = 1, .place = placement(9)}); }},
        {"waiting", "there is no waiting 9",
         [] {
           coset_team_options options = COSET_TEAM_OPTIONS;
           options.waiting = 9;
           coset_team* made = nullptr;
           return coset_team_adopt(2, &options, &made);
         },
         [] { (void)team::adopt(2, {.wait = waiting(9)}); }},
        {"adopted_ranks", "a team of 0 ranks",
         [] {
           coset_team* made = nullptr;
           return coset_team_adopt(0, nullptr, &made);
         },
         [] { (void)team::adopt(0); }},
        {"body", "the body is NULL",
         [] { return with_team([](auto* all) { return coset_team_run(all, nullptr, nullptr); }); },
         [] { team({.ranks = 1, .place = placement::unbound}).run(static_cast<void (*)(member&)>(nullptr)); }},
        {"way_to_combine", "there is no way 7", nullptr,
         [] {
           std::vector<int> into(10);
           reducer<int>(10).combine_into(into, combining(7));
         }},
    }),
    [](auto const& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace coset
