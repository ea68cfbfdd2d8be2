// SPDX-License-Identifier: Apache-2.0
// FlexReduce: allreduce along a tree of unequal nodes, level by level, every rank busy on every level.
#pragma once

#include "planning/schedule/model/tree.hpp"

namespace coset::schedule {

/// Allreduce. Deepest level first, the ranks below each inner node share out what its children have reduced: all portions
/// shrink by the node's degree and each new part is folded from one holder per child. Then the same way back.
/// Cost: one round per level and direction, as many ports as children. Same bits on every rank. Source: [FR], with the
/// owner of a part not always one of its holders.
schedule flexreduce(tree const& of);

}  // namespace coset::schedule
