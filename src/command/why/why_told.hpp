// SPDX-License-Identifier: Apache-2.0
// What `coset why` says of the candidates on one host.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "command/table.hpp"
#include "planning/calibration/rule.hpp"
#include "planning/choice/explain.hpp"

namespace coset::cli {

std::string why_title(choice::question const&);

/// By what they cost, the chosen one with its mark; of the others those of `plans`, algorithms with these parameters among
/// others. No plans: all.
table told_candidates(choice::explanation const&, std::vector<std::string> const& plans);

/// `rule`: one that precedes the choice, or null. `all`: not only the cheapest.
std::string why_text(choice::question const&, choice::explanation const&, calibration::rule const* rule,
                     std::vector<std::string> const& plans, bool all);
nlohmann::ordered_json why_json(choice::question const&, choice::explanation const&, calibration::rule const* rule);

}  // namespace coset::cli
