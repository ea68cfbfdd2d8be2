// SPDX-License-Identifier: Apache-2.0
// Machines described in hwloc's XML: what is read has consistent numbers and places for ranks.
#include "coset/topology.hpp"
#include "answers.hpp"
#include "foreign.hpp"
#include "planning/calibration/profile.hpp"
#include "planning/choice/choose.hpp"

namespace {

using namespace coset;

void run(std::string_view input) {
  test::memory_file const file(input);
  topology const machine = topology::xml(file.name());
  test::demand(!machine.processors.empty() && !machine.nodes.empty(), "a machine has processors and a node");
  for (processor const& each : machine.processors) {
    test::demand(each.core < machine.cores() && each.node < machine.nodes.size(), "numbers are dense");
  }
  test::demand(machine.distances.empty() || machine.distances.size() == machine.nodes.size(), "distances fit");
  auto const all = static_cast<rank_t>(machine.processors.size());
  for (placement const how : {placement::compact, placement::scatter, placement::unbound}) {
    test::demand(machine.place(all, how).size() == all, "there is a place for a rank per processor");
  }
  choice::levels_of(machine.place(machine.cores(), placement::compact));
  calibration::fingerprint_of(machine);
}

}  // namespace

// hwloc believes its XML. Of its two readers the one that needs no plugin, whose leaks could not be told by its name.
extern "C" char const* __lsan_default_suppressions() { return "leak:libhwloc"; }
extern "C" char const* __asan_default_options() { return "abort_on_error=1:print_suppressions=0"; }

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  setenv("HWLOC_HIDE_ERRORS", "2", 1);
  setenv("HWLOC_LIBXML", "0", 1);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  auto const once = [&] { return coset::test::answers([&] { run(coset::test::text_of(data, size)); }); };
  if (coset::test::is_ours("libhwloc", once)) once();
  return 0;
}
