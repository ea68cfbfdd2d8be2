// SPDX-License-Identifier: Apache-2.0
// What a plot shows of prices side by side.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "lab/price/comparison.hpp"
#include "lab/price/plot.hpp"

namespace coset::cli {
namespace {

/// What the curves run over: bytes, or ranks if there is one size.
struct axis {
  bool is_ranks;
  std::set<rank_t> ranks;
  std::set<std::uint64_t> bytes;
};

axis axis_of(comparison const& of) {
  axis found{};
  for (compared const& row : of.rows) found.ranks.insert(row.ranks), found.bytes.insert(row.bytes);
  found.is_ranks = found.bytes.size() == 1;
  return found;
}

}  // namespace

std::vector<std::string> curves_of(comparison const& of, std::size_t most) {
  std::vector<std::string> all, fastest;
  auto const note = [](std::vector<std::string>& list, std::string const& name) {
    if (std::ranges::find(list, name) == list.end()) list.push_back(name);
  };
  for (auto row = of.rows.begin(); row != of.rows.end();) {
    auto const end = std::find_if(row, of.rows.end(),
                                  [&](compared const& r) { return r.ranks != row->ranks || r.bytes != row->bytes; });
    note(fastest, std::min_element(row, end, [](compared const& a, compared const& b) {
                    return a.price.total() < b.price.total();
                  })->name);
    for (; row != end; ++row) note(all, row->name);
  }
  return all.size() <= most ? all : fastest;
}

picture picture_of(comparison const& of) {
  axis const along = axis_of(of);
  if (along.ranks.size() == 1 && along.bytes.size() == 1)
    throw argument_error("one size on one number of ranks is no curve: give --plot several, as -b 1K-16M");
  std::string const where = along.is_ranks           ? fmt::format("{} bytes", *along.bytes.begin())
                            : along.ranks.size() > 1 ? ""
                                                     : fmt::format("{} ranks", *along.ranks.begin());
  picture drawn{fmt::format("{} {}; {}", name_of(of.verb), where, of.model),
                along.is_ranks ? "ranks" : "bytes",
                "microseconds, by the model",
                !along.is_ranks,
                {}};
  constexpr std::size_t most_curves = 8;
  for (std::string const& name : curves_of(of, most_curves))
    for (rank_t const ranks : along.is_ranks ? std::set<rank_t>{0} : along.ranks) {
      bool const names_ranks = along.ranks.size() > 1 && ranks != 0;
      picture::curve curve{names_ranks ? fmt::format("{}, {} ranks", name, ranks) : name, {}};
      for (compared const& row : of.rows)
        if (row.name == name && (ranks == 0 || row.ranks == ranks))
          curve.points.emplace_back(along.is_ranks ? row.ranks : row.bytes, row.price.total() * 1e6);
      if (!curve.points.empty()) drawn.curves.push_back(std::move(curve));
    }
  return drawn;
}

}  // namespace coset::cli
