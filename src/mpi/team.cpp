// SPDX-License-Identifier: Apache-2.0
// The public face of teams over processes.
#include "coset/mpi.hpp"

#include <atomic>
#include <ostream>
#include <utility>

#include <algorithm>
#include "coset/plan.hpp"

#include "mpi/joint.hpp"
#include "runtime/failure/ranks_in_words.hpp"

namespace coset::inline COSET_ABI::mpi {

team::team(MPI_Comm of, coset::team& threads, options const& wanted) : state_(state::founded(of, threads, wanted)) {}

team::~team() {
  if (state_->is_of_this_process() && state_->can_be_destroyed()) return;
  // MPI, or a forked child's parent, may still use it, so it is not freed; leak checkers find it in this list.
  static std::atomic<state*> left_to_mpi = nullptr;
  state* const own = state_.release();
  own->next_left_to_mpi = left_to_mpi.exchange(own);
}

rank_t team::size() const noexcept { return state_->everywhere().ranks; }
rank_t team::first() const noexcept { return state_->here().first; }
rank_t team::threads() const noexcept { return state_->here().threads; }
int team::processes() const noexcept { return static_cast<int>(state_->everywhere().processes.size()); }
int team::process_number() const noexcept {
  auto const& all = state_->everywhere().processes;
  return static_cast<int>(std::ranges::find(all, first(), &mpi::process::first) - all.begin());
}
int team::hosts() const noexcept { return static_cast<int>(state_->everywhere().hosts.size()); }

std::string team::describe() const { return state_->in_words(); }

member_guard team::join(rank_t thread) { return state_->join(thread); }
detail::rank_state* team::joined(rank_t thread) const noexcept { return state_->joined(thread); }
bool team::is_adopted() const noexcept { return state_->is_adopted(); }
void team::reset() { state_->reset(); }

void dump(team const& of, std::ostream& to) { to << runtime::account_of(of.state_->ranks().shared); }

team::operator detail::any_team() noexcept { return detail::any_team(state_->ranks()); }

void team::run_erased(void (*body)(void*, member&), void* context) { state_->run(body, context); }

}  // namespace coset::mpi
