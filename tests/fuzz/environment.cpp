// SPDX-License-Identifier: Apache-2.0
// Variables of the environment and the plans, storages and sizes in them: what is taken means the same when written out.
#include "answers.hpp"
#include "coset/verbs/verb.hpp"
#include "planning/choice/rules/table.hpp"
#include "planning/program/plan_text.hpp"
#include "planning/program/program.hpp"

namespace {

using namespace coset;

void require_same(plan_options const& a, plan_options const& b) {
  test::demand(a.algorithm == b.algorithm && a.storage == b.storage && a.segment_bytes == b.segment_bytes,
               "a plan's text is that plan");
}

void run_rules(verb what, std::string_view input) {
  for (calibration::rule const& r : choice::parse_rules(what, input)) {
    test::demand(r.what == what && r.from < r.to, "a rule serves some sizes of its verb");
    require_same(plan_named(program::text_of(r.how)), r.how);
  }
}

void run_storage(std::string_view input) {
  auto const storage = program::parse_policy(std::string(input));
  test::demand(program::policy_name(storage) == input, "a storage has one name");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const input = coset::test::text_of(data, size);
  for (coset::verb const what : coset::all_verbs()) coset::test::answers([&] { run_rules(what, input); });
  coset::test::answers([&] { coset::verb_named(input); });
  coset::test::answers([&] { coset::plan_named(input); });
  coset::test::answers([&] { run_storage(input); });
  coset::test::answers([&] { coset::program::parse_bytes(input); });
  return 0;
}
