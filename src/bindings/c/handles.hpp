// SPDX-License-Identifier: Apache-2.0
// What the opaque pointers of coset.h point to, and what src/mpi/c needs of this room to make more of them.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "coset/coset.h"
#include "coset/detail/private_copy.hpp"
#include "coset/plan.hpp"
#include "coset/team.hpp"

struct coset_team {
  std::unique_ptr<coset::team> of;
};

/// A member of any origin. Those of run() lie on the rank's stack.
struct coset_member {
  enum class origin { run, split, join };

  coset::member* of;
  origin from;
};

struct coset_plan {
  coset::verb what;
  std::size_t count;  ///< as the caller counts
  coset::detail::plan_pair plans;
  std::shared_ptr<void const> operation;
  std::string description;
};

/// A reducer of elements of which only the size and the folds are known.
struct coset_reducer {
  std::shared_ptr<coset::detail::reducer_core> core;
  std::size_t count, element_bytes;
};

struct coset_joint_reducer {
  std::shared_ptr<coset::detail::reducer_core> core;
  std::vector<std::size_t> counts;  ///< of each thing
};

namespace coset::capi {

struct split_member : coset_member {
  explicit split_member(member&& made) : coset_member{nullptr, origin::split}, own(std::move(made)) { of = &own; }
  member own;
};

struct joined_member : coset_member {
  /// `join` returns the guard, which cannot be moved.
  template <class Join>
  explicit joined_member(Join const& join) : coset_member{nullptr, origin::join}, own(join()) {
    of = &*own;
  }
  member_guard own;
};

/// Runs a body on one rank. Exceptions tell the team of its failure.
void run_body(member&, coset_body*, void* context);
/// What coset_dump() does with an account of a team, by exceptions.
void write_to(std::int32_t descriptor, std::string const& account);
/// Whether coset_start_…() would begin an operation at once, without completing an earlier one first.
bool may_start(coset_member*);
/// Whether its team has failed: every call of it throws.
bool has_failed(coset_member*) noexcept;
/// Whether the ranks of its team outnumber the processors that they may use.
bool takes_turns(coset_member*);
/// As coset_plan_create(), for any kind of team and by exceptions.
void make_plan(detail::any_team, coset_verb, std::size_t count, coset_type, coset_operation, coset_plan_options const*,
               coset_plan** made);

}  // namespace coset::capi
