// SPDX-License-Identifier: Apache-2.0
#include "reducer/processes/wire.hpp"

#include "base/text/format.hpp"

namespace coset::reducer_room {

[[gnu::cold]] wire_choice choose_wire(wire_counts const& of) noexcept {
  constexpr std::uint64_t heading_bytes = 16;
  std::uint64_t const others = of.processes - 1;
  auto const sparse = [&](std::uint64_t blocks) {
    std::uint64_t const all = blocks * (of.block_bytes + heading_bytes) + of.updates * of.record_bytes;
    return of.everywhere ? all * others : all / of.processes * others;
  };
  // Each process reduces a part for all, and then all of them get it.
  wire_choice found{.bytes = {sparse(of.blocks), sparse(of.united), of.bytes * others * (of.everywhere ? 2 : 1)}};
  auto const bytes_by = [&](wire way) { return found.bytes[static_cast<std::size_t>(way)]; };
  if (bytes_by(wire::each_process) < found.least()) found.way = wire::each_process;
  if (of.may_be_whole && bytes_by(wire::whole_array) < found.least()) found.way = wire::whole_array;
  return found;
}

[[gnu::cold]] char const* name_of(wire way) noexcept {
  switch (way) {
    case wire::each_rank:
      return "each rank's own";
    case wire::each_process:
      return "folded in each process first";
    case wire::whole_array:
      return "the whole array";
  }
  return "";
}

[[gnu::cold]] std::string in_words(wire_choice const& of) {
  std::string text = text::format("{}: {} bytes from process to process (", name_of(of.way), of.least());
  char const* between = "";
  for (wire const other : {wire::each_rank, wire::each_process, wire::whole_array}) {
    if (other == of.way) continue;
    text += text::format("{}{} {}", between, name_of(other), of.bytes[static_cast<std::size_t>(other)]);
    between = ", ";
  }
  return text + ")";
}

}  // namespace coset::reducer_room
