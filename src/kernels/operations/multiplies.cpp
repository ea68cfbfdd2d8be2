// SPDX-License-Identifier: Apache-2.0
// Products, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/operations/multiplies.cpp"
#include "hwy/foreach_target.h"

#include "kernels/tables-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace coset::kernels::HWY_NAMESPACE {
operation_sets const* multiplies_folds() { return &all_sets<multiplies>; }
}  // namespace coset::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include "kernels/instruction_set.hpp"

namespace coset::kernels {
HWY_EXPORT(multiplies_folds);
operation_sets const& multiplies_sets(std::int64_t target) {
  return *entry_for(target, HWY_DISPATCH_TABLE(multiplies_folds))();
}
}  // namespace coset::kernels
#endif
