// SPDX-License-Identifier: Apache-2.0
// Arrays that go together, as a plan has them.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "coset/detail/joint_call.hpp"

namespace coset::inline COSET_ABI::detail {

/// The plan of the rows that these parts become, which `made_for` makes.
std::shared_ptr<bound_plan const> plan_of_rows(
    joint_kind const&, std::span<joint_part>,
    std::function<std::shared_ptr<bound_plan const>(call const&)> const& made_for);

}  // namespace coset::detail
