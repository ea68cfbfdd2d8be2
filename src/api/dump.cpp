// SPDX-License-Identifier: Apache-2.0
#include "coset/dump.hpp"

#include <ostream>

#include "runtime/failure/ranks_in_words.hpp"
#include "team/team_state.hpp"
#include "text/format.hpp"

namespace coset {

void dump(detail::any_team of, std::ostream& to) {
  runtime::shared_memory const& team = of.state().shared;
  std::string text = text::format("coset: a team of {} ranks\n", team.size());
  for (std::string const& line : runtime::where_ranks_are(team, runtime::now_of_waits()))
    text::append(text, "coset:   {}\n", line);
  to << text;
}

}  // namespace coset
