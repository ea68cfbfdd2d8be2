// SPDX-License-Identifier: Apache-2.0
#include "mpi/agreement.hpp"

#include <algorithm>

#include "text/format.hpp"

namespace coset::mpi {
namespace {

char const* name_of(occasion at) {
  switch (at) {
    case occasion::constructing:
      return "constructs its team";
    case occasion::beginning:
      return "begins a run";
    case occasion::prepared:
      return "is prepared for a run";
    case occasion::ending:
      return "ends a run";
    case occasion::clearing:
      return "ends a run that has failed";
    case occasion::destroying:
      break;
  }
  return "has destroyed its team";
}

/// For the error of a process that waits in vain.
char const* awaited_at(occasion at) {
  switch (at) {
    case occasion::beginning:
    case occasion::prepared:
      return "all processes to begin their run()";
    case occasion::ending:
    case occasion::clearing:
      return "all processes to end their run()";
    default:
      return "all processes";
  }
}

/// Names the process that is farthest: if it destroys a team, it has left the order of the others.
void require_one_occasion(std::vector<record> const& all) {
  auto const place = [](record const& r) { return std::pair(r.at, r.round); };
  auto const [nearest, farthest] = std::ranges::minmax_element(all, {}, place);
  if (place(*nearest) == place(*farthest)) return;
  throw error(text::format("process {} {} while process {} {}", farthest - all.begin(), name_of(farthest->at),
                           nearest - all.begin(), name_of(nearest->at)));
}

}  // namespace

void record::say(std::string_view reason) {
  std::size_t const length = std::min(reason.size(), room - 1);
  std::memcpy(more.data(), reason.data(), length);
  more[length] = std::byte{0};
}

std::vector<record> agree(communicator const& all, record const& mine, patience longest,
                          std::function<void()> const& meanwhile) {
  auto brought = gather_from_all(all, mine, longest, meanwhile, awaited_at(mine.at));
  require_one_occasion(brought);
  return brought;
}

}  // namespace coset::mpi
