// SPDX-License-Identifier: Apache-2.0
// Bitwise ors, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/kernels/operations/bit_or.cpp"
#include "hwy/foreach_target.h"

#include "runtime/kernels/tables-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {
operation_sets const* bit_or_folds() { return &all_sets<bit_or>; }
}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "runtime/kernels/instruction_set.hpp"

namespace coset::kernels {
constexpr decltype(&HWY_STATIC_DISPATCH(bit_or_folds)) bit_or_folds_by_target[] = COSET_TABLE_OF(bit_or_folds);
operation_sets const& bit_or_sets(std::int64_t targets) { return *entry_for(targets, bit_or_folds_by_target)(); }
}  // namespace coset::kernels
#endif
