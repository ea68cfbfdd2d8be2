// SPDX-License-Identifier: Apache-2.0
// Judged claims, for people and programs, whatever the source.
#pragma once

#include <span>
#include <string>

#include "command/table.hpp"
#include "lab/reproduce/claim.hpp"

namespace coset::cli::reproduction {

struct judged_source {
  source const* of;
  std::vector<judged_claim> claims;
};

/// How many claims came to what; those without numbers here and now are not judged.
struct tally {
  std::size_t agree = 0, disagree = 0, undecided = 0, not_judged = 0;

  void add(judged_claim const&);
  tally& operator+=(tally const&);
  std::string text() const;  ///< "219 claims: 150 agree, …"
};
tally tally_of(judged_source const&);

/// A line for each question, and how many came to what.
std::string as_text(std::span<judged_source const>);
/// All there is to say of a claim.
std::string in_full(judged_claim const&);

/// A row for each question, and one for each claim that is not judged.
table as_table(std::span<judged_source const>);
std::string as_json(std::span<judged_source const>);

}  // namespace coset::cli::reproduction
