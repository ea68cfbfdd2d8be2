// SPDX-License-Identifier: Apache-2.0
// Schedules priced side by side, over numbers of ranks and sizes, and shown: as tables, CSV, JSON and plots.
#pragma once

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "command/shown/selector.hpp"
#include "command/table.hpp"
#include "lab/price/cost_setting.hpp"
#include "lab/price/plot.hpp"
#include "planning/schedule/core/validate.hpp"
#include "planning/schedule/files/plan_json.hpp"
#include "planning/schedule/model/proved.hpp"

namespace coset::cli {

/// A plan of a file, proved.
struct named_plan {
  std::string name;
  schedule::schedule plan;
};

struct comparison_request {
  std::vector<schedule::algorithm> algorithms;  ///< none, and no plans either: all that are tried
  std::vector<named_plan> plans;                ///< each on its own number of ranks
  std::vector<rank_t> ranks;
  std::vector<std::uint64_t> bytes;
  schedule::demand wanted;  ///< of any number of ranks
};

/// One schedule, one size.
struct compared {
  std::string name;  ///< as asked for
  std::string made;  ///< the same, with the number of blocks instead of blocks=best
  rank_t ranks;
  std::uint64_t bytes;
  schedule::properties found;
  schedule::price price;
  double
      contention;  ///< the transfer's time by what it would take if no message shared a link; 1 if links are not shared
  schedule::busiest_link busiest;
  std::string node_link;  ///< what the busiest link of a node carries in one direction, in vectors; empty without nodes
  std::optional<schedule::cut> bound = {};  ///< the cut that binds, where links are shared
};

struct comparison {
  coset::verb verb;
  std::string model;
  bool shares_links;
  std::vector<compared> rows;  ///< by ranks, then bytes, then as asked for; of all that are tried, fastest first

  std::string title() const;
  std::string as_text() const;
  table as_table() const;  ///< with all that is known, for programs
  std::string as_json() const;
};

/// Algorithms that some numbers of ranks do not have are left out there, and named on `remarks`; of all that are tried, those
/// that would be written out for too many ranks. Throws schedule_error if nothing is left.
comparison compare(comparison_request const&, cost_settings const&, std::ostream& remarks);

/// The curves of a plot: of everything, or, of many, what is fastest somewhere.
std::vector<std::string> curves_of(comparison const&, std::size_t most);

/// Microseconds of these curves over bytes, or over ranks where there is one size. Throws argument_error if there is one
/// point.
picture picture_of(comparison const&);

}  // namespace coset::cli
