// SPDX-License-Identifier: Apache-2.0
#include <ostream>

#include "coset/team.hpp"
#include "runtime/failure/ranks_in_words.hpp"
#include "team/team_state.hpp"

namespace coset::inline COSET_ABI {

void dump(team const& of, std::ostream& to) { to << runtime::account_of(of.state().shared); }

}  // namespace coset
