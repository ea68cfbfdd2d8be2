// SPDX-License-Identifier: Apache-2.0
// What a loop of updates refuses, in words that name the values.
#include <gmock/gmock.h>

#include "updates/loops.hpp"

namespace coset::updates_test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class UpdatesRefuse : public ::testing::Test {
 protected:
  template <class Call>
  static std::string said_by(Call const& call) {
    try {
      call();
    } catch (argument_error const& refused) {
      return refused.what();
    }
    return "nothing is refused";
  }

  team two_{{.ranks = 2, .place = placement::unbound}};
  std::vector<double> array_ = std::vector<double>(10);
  std::vector<int> keys_ = std::vector<int>(5);
  std::vector<double> values_ = std::vector<double>(5);
};

TEST_F(UpdatesRefuse, KeysAndValuesOfDifferentNumbers) {
  values_.resize(6);
  EXPECT_EQ(said_by([&] { scatter_add(two_, array_, keys_, values_); }), "5 keys and 6 values of updates");
}
TEST_F(UpdatesRefuse, ArraysOfDifferentLengthsAtOneIndex) {
  std::vector<float> longer(11);
  EXPECT_EQ(said_by([&] { scatter_add(two_, std::tie(array_, longer), keys_); }),
            "arrays of 10 and 11 elements are updated at one index");
}
TEST_F(UpdatesRefuse, LessThanNoIterations) {
  EXPECT_EQ(said_by([&] { scatter_add(two_, array_, -3, [](std::size_t) { return 0; }); }), "-3 iterations of updates");
}
TEST_F(UpdatesRefuse, OperationsThatAreNull) {
  double (*const nothing)(double, double) = nullptr;
  EXPECT_EQ(said_by([&] { scatter_add(two_, array_, keys_, values_, nothing); }), "the operation is NULL");
}

TEST_F(UpdatesRefuse, PrivateCopiesWithoutAnIdentity) {
  auto const op = [](double a, double b) { return a + b; };
  EXPECT_THAT(said_by([&] { scatter_add(two_, array_, keys_, values_, op, {.by = way::private_copies}); }),
              AllOf(HasSubstr("private_copies"), HasSubstr("identity")));
}
TEST_F(UpdatesRefuse, PrivateCopiesOfAnOperationThatDoesNotCommute) {
  EXPECT_THAT(said_by([&] {
                scatter_add(two_, array_, keys_, values_, noncommutative(digits()), {.by = way::private_copies});
              }),
              HasSubstr("private_copies"));
}
TEST_F(UpdatesRefuse, PrivateCopiesBeyondTheLimitOfMemory) {
  EXPECT_THAT(said_by([&] {
                std::vector<double> large(1 << 20);
                scatter_add(two_, large, keys_, values_, plus(), {.by = way::private_copies, .most_bytes = 1 << 20});
              }),
              AllOf(HasSubstr("private_copies"), HasSubstr("most_bytes is 1048576")));
}
TEST_F(UpdatesRefuse, AtomicsOfAStruct) {
  std::vector<trail> trails(10);
  std::vector<trail> const values(5);
  EXPECT_THAT(said_by([&] { scatter_add(two_, trails, keys_, values, follow(), {.by = way::atomics}); }),
              HasSubstr("atomics"));
}
TEST_F(UpdatesRefuse, AtomicsOfAnOperationThatDoesNotCommute) {
  EXPECT_THAT(
      said_by([&] { scatter_add(two_, array_, keys_, values_, noncommutative(digits()), {.by = way::atomics}); }),
      HasSubstr("atomics"));
}
TEST_F(UpdatesRefuse, SerialBitsByWaysThatHaveOthers) {
  for (way const by : {way::private_copies, way::atomics})
    EXPECT_THAT(
        said_by([&] { scatter_add(two_, array_, keys_, values_, plus(), {.by = by, .required = bits::serial}); }),
        HasSubstr("bits::serial"));
}
TEST_F(UpdatesRefuse, WaysThatThereAreNot) {
  EXPECT_THAT(said_by([&] { scatter_add(two_, array_, keys_, values_, plus(), {.by = static_cast<way>(17)}); }),
              HasSubstr("17"));
}
/// Exact operations have the same bits in any order.
TEST_F(UpdatesRefuse, NoWayToSerialBitsWhereOrderCannotChangeThem) {
  std::vector<int> counts(10);
  for (way const by : every_way)
    scatter_add(two_, counts, keys_, one_each, plus(), {.by = by, .required = bits::serial});
  EXPECT_EQ(counts[0], 30);
}
TEST_F(UpdatesRefuse, ValuesThatCannotBeKeptByAPartition) {
  struct kept_elsewhere {
    std::shared_ptr<double> number = std::make_shared<double>(2);
    explicit operator double() const { return *number; }
  };
  std::vector<kept_elsewhere> const values(5);
  EXPECT_THAT(said_by([&] { scatter_add(two_, array_, keys_, values, plus(), {.by = way::partition}); }),
              HasSubstr("partition"));
  scatter_add(two_, array_, keys_, values, plus(), {.by = way::owner_scan});
  scatter_add(two_, array_, keys_, values);
  EXPECT_EQ(array_[0], 20);
}

}  // namespace
}  // namespace coset::updates_test
