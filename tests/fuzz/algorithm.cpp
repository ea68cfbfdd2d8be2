// SPDX-License-Identifier: Apache-2.0
// Algorithms as users write them, after how many ranks, the collective and its root: what parses and exists is right.
#include <sstream>

#include "answers.hpp"
#include "planning/schedule/core/required.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/registry/algorithm.hpp"

namespace {

using namespace coset::schedule;

void run(std::string_view input) {
  std::istringstream words{std::string(input)};
  coset::rank_t ranks = 0, root = 0;
  std::string verb, text;
  words >> ranks >> verb >> root >> std::ws;
  std::getline(words, text, '\0');

  auto const given = algorithm::parse(text);
  coset::test::demand(algorithm::parse(given.text()) == given, "an algorithm's text is that algorithm");
  if (given.parameters.contains("tree")) return;  // any file, /dev/zero too
  schedule const made = make(given, ranks % 33, scheduled_verb(verb), root);
  try {
    validate(made);
  } catch (coset::error const& refuted) {
    coset::test::demand(false, refuted.what());  // whatever can be made is right
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  coset::test::answers([&] { run(coset::test::text_of(data, size)); });
  return 0;
}
