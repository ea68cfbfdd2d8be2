// SPDX-License-Identifier: Apache-2.0
// What the oracle says of verbs, as JSON, for tests in other languages.
//
//     coset_definitions                                 all verbs and their shapes
//     coset_definitions VERB ROOT IN_PLACE LENGTH…      by ranks, whose pieces have these lengths: all that oracle.hpp knows
#include <cstdlib>
#include <iostream>
#include <string>
#include <utility>

#include "support/oracle.hpp"

namespace coset::team_test {
namespace {

std::string text(bool truth) { return truth ? "true" : "false"; }
std::string text(stretch s) { return "[" + std::to_string(s.first) + ", " + std::to_string(s.count) + "]"; }

std::string text(part const& p) {
  return "[" + std::to_string(p.of.first) + ", " + std::to_string(p.of.count) + ", " + std::to_string(p.begin) + ", " +
         std::to_string(p.end) + ", " + std::to_string(p.from) + "]";
}

/// How it is called, which its row says.
std::string shape(verb what) {
  using namespace coset::detail;
  return "\"" + std::string(name_of(what)) + "\": {\"rooted\": " + text(is_rooted(what)) +
         ", \"from_root\": " + text(is_from_root(what)) + ", \"pieces\": " + text(is_of_pieces(what)) +
         ", \"gives_pieces\": " + text(gives_pieces(what)) + ", \"gets_pieces\": " + text(gets_pieces(what)) +
         ", \"swaps\": " + text(swaps_pieces(what)) + ", \"folds\": " + text(!only_moves(what)) +
         ", \"meets\": " + text(is_barrier(what)) + ", \"shares\": " + text(shares_result(what)) + "}";
}

std::string of_rank(task const& t, rank_t r) {
  layout const all = layout_of(t, r);
  std::string parts;
  for (part const& p : parts_of(t, r)) parts += (parts.empty() ? "" : ", ") + text(p);
  return "{\"one\": " + text(all.one) + ", \"in_length\": " + std::to_string(all.in_length) +
         ", \"out_length\": " + std::to_string(all.out_length) + ", \"in_at\": " + text(all.in) +
         ", \"gives\": " + text(given_by(t, r)) + ", \"gets\": " + text(got_by(t, r)) + ", \"parts\": [" + parts +
         "], \"keeps\": " + text(keeps_input(t, r)) + "}";
}

}  // namespace
}  // namespace coset::team_test

int main(int argc, char** argv) {
  using namespace coset::team_test;
  std::string between;
  if (argc < 5) {
    std::cout << "{";
    for (coset::verb const what : coset::all_verbs()) std::cout << std::exchange(between, ",\n ") << shape(what);
    std::cout << "}\n";
    return 0;
  }
  task t{.what = coset::verb_named(argv[1]), .root = static_cast<coset::rank_t>(std::atoi(argv[2]))};
  t.in_place = std::atoi(argv[3]) != 0;
  for (int k = 4; k < argc; ++k) t.counts.push_back(static_cast<std::size_t>(std::atoi(argv[k])));
  std::cout << "[";
  for (coset::rank_t r = 0; r < t.ranks(); ++r) std::cout << std::exchange(between, ",\n ") << of_rank(t, r);
  std::cout << "]\n";
}
