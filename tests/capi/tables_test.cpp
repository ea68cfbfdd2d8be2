// SPDX-License-Identifier: Apache-2.0
// What the C interface shares with C++: reductions, ranks that meet in one collective, and exceptions that stop.
#include <gtest/gtest.h>

#include <coset/coset.hpp>
#include <cstddef>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include "bindings/c/handles.hpp"
#include "bindings/c/tables.hpp"

namespace {

using coset::detail::table_of;

TEST(Tables, AreThoseOfCppPrograms) {
  using coset::capi::reduction_of;
  EXPECT_EQ(reduction_of(COSET_FLOAT32, COSET_PLUS).table, (&table_of<float, coset::plus>()));
  EXPECT_EQ(reduction_of(COSET_BFLOAT16, COSET_MAXIMUM).table, (&table_of<coset::bfloat16, coset::maximum>()));
  EXPECT_EQ(reduction_of(COSET_UINT64, COSET_BIT_XOR).table, (&table_of<std::uint64_t, coset::bit_xor>()));
  EXPECT_EQ(reduction_of(COSET_BOOL, COSET_LOGICAL_AND).table, (&table_of<bool, coset::logical_and>()));
  EXPECT_EQ(reduction_of(COSET_INT64_LOCATION, COSET_MINIMUM_LOCATION).table,
            (&table_of<coset::located<std::int64_t>, coset::minimum_location>()));
  static_assert(sizeof(coset_float32_location) == sizeof(coset::located<float>) &&
                offsetof(coset_float32_location, index) == offsetof(coset::located<float>, index));
}

TEST(Tables, SizesAreThoseOfTheTypes) {
  EXPECT_EQ(coset::capi::bytes_of(COSET_COMPLEX128), 16u);
  EXPECT_EQ(coset::capi::bytes_of(COSET_INT32_LOCATION), sizeof(coset_int32_location));
  EXPECT_EQ(coset::capi::bytes_of(COSET_STRUCT(24)), 24u);
}

TEST(Members, OfCAndCppMeetInOneCollective) {
  coset::team team({.ranks = 3, .place = coset::placement::unbound});
  team.run([](coset::member& me) {
    std::vector<double> in(100, me.rank() + 1.0), out(100);
    coset_member in_c{&me, coset_member::origin::run};
    if (me.rank() == 1) {
      EXPECT_EQ(coset_allreduce(&in_c, in.data(), out.data(), out.size(), COSET_FLOAT64, COSET_PLUS), COSET_SUCCESS);
      EXPECT_EQ(coset_broadcast(&in_c, in.data(), in.size(), COSET_FLOAT64, 2), COSET_SUCCESS);
    } else {
      coset::allreduce(me, in, out);
      coset::broadcast(me, in, 2);
    }
    EXPECT_EQ(out, std::vector<double>(100, 6.0));
    EXPECT_EQ(in, std::vector<double>(100, 3.0));
  });
}

template <class Thrown>
int throwing_body(coset_member* me, void*) {
  if (coset_member_rank(me) == 1) throw Thrown();
  return coset_barrier(me);
}

struct odd : std::runtime_error {
  odd() : std::runtime_error("something odd") {}
};

struct lacking : coset::out_of_memory {
  lacking() : coset::out_of_memory("allreduce of 8 bytes") {}
};

TEST(Bodies, ThatThrowBecomeStatuses) {
  coset_team_options options = COSET_TEAM_OPTIONS;
  options.ranks = 2;
  options.placement = COSET_UNBOUND;
  coset_team* team = nullptr;
  ASSERT_EQ(coset_team_create(&options, &team), COSET_SUCCESS);
  EXPECT_EQ(coset_team_run(team, throwing_body<odd>, nullptr), COSET_UNKNOWN_ERROR);
  EXPECT_STREQ(coset_error_message(), "something odd");
  EXPECT_EQ(coset_team_run(team, throwing_body<std::bad_alloc>, nullptr), COSET_OUT_OF_MEMORY);
  EXPECT_EQ(coset_team_run(team, throwing_body<lacking>, nullptr), COSET_OUT_OF_MEMORY);
  EXPECT_STREQ(coset_error_message(), "allreduce of 8 bytes");
  EXPECT_EQ(coset_team_run(team, throwing_body<int>, nullptr), COSET_UNKNOWN_ERROR);
  EXPECT_STREQ(coset_error_message(), "an exception that is no std::exception");
  coset_team_free(team);
}

}  // namespace
