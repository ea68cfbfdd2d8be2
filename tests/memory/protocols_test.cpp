// SPDX-License-Identifier: Apache-2.0
// Every execution of the protocols that makes a difference ends, without races, with the right values.
#include <gtest/gtest.h>

#include <cctype>
#include <iostream>

#include "memory/scenarios/scenarios.hpp"

namespace coset::memory_test {

class Protocols : public ::testing::TestWithParam<scenario> {};

TEST_P(Protocols, HoldUnderTheMemoryModel) {
  findings const found = explore(GetParam().set_up(), GetParam().within);
  EXPECT_EQ(told(found), "");
  std::cout << GetParam().name << ": " << found.executions << (found.all ? " executions, all" : " executions")
            << ", of at most " << found.longest << " operations\n";
}

INSTANTIATE_TEST_SUITE_P(Are, Protocols, ::testing::ValuesIn(all_scenarios()), [](auto const& info) {
  std::string name;
  for (char const c : info.param.name) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return name;
});

}  // namespace coset::memory_test

int main(int count, char** words) {
  ::testing::InitGoogleTest(&count, words);
  return RUN_ALL_TESTS();
}
