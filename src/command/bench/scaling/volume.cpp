// SPDX-License-Identifier: Apache-2.0
#include "command/bench/scaling/volume.hpp"

namespace coset::cli {

double bytes_moved(measure::problem const& of, measure::timing timing) {
  double given = 0, got = 0;
  for (rank_t r = 0; r < of.ranks; ++r) {
    auto const in = gives(of, r), out = gets(of, r);
    given += static_cast<double>((in.end - in.begin) * of.element_bytes());
    got += static_cast<double>((out.end - out.begin) * of.element_bytes());
  }
  double const in_call = detail::only_moves(of.what) ? 2 * got : given + got;
  return timing == measure::timing::call ? in_call : in_call + given + got;
}

double vectors_between(verb what, rank_t parties) {
  if (parties < 2) return 0;
  double const others = (parties - 1.0) / parties;
  if (detail::is_of_pieces(what)) return others;
  return detail::is_rooted(what) || detail::is_scan(what) ? 1 : 2 * others;
}

}  // namespace coset::cli
