// SPDX-License-Identifier: Apache-2.0
// Turns the numbers of coset.h into the erased reductions that C++ programs use as well.
#pragma once

#include <cstddef>
#include <memory>

#include "coset/coset.h"
#include "coset/detail/reduction.hpp"

namespace coset::capi {

/// An operation of a C program. Folds get it as their context.
struct user_operation {
  coset_fold* fold;
  void* context;
  std::size_t element_bytes;
  detail::reduction_table const* table;
};

inline constexpr std::size_t most_struct_bytes = std::size_t{1} << 30;

using operation_handle = std::shared_ptr<user_operation const>;

/// The reduction that a collective runs.
struct reduction {
  detail::reduction_table const* table;
  void const* context;                       ///< the operation, as folds expect it
  operation_handle const* handle = nullptr;  ///< of a C program's operation; requests and plans share it

  std::shared_ptr<void const> kept() const {
    return handle != nullptr ? std::shared_ptr<void const>(*handle)
                             : std::shared_ptr<void const>(operation_handle(), context);
  }
};

/// Throw argument_error: no such type, no such operation, or two that do not go together, naming both.
std::size_t bytes_of(coset_type);
reduction reduction_of(coset_type, coset_operation);
/// The identity of a built-in operation, an element of the type; nullptr for a C program's operation.
void const* identity_of(coset_type, coset_operation);
/// For verbs that combine nothing. Elements of the caller's own types move as bytes: `unit` of them each.
reduction copy_of(coset_type, std::size_t& unit);

/// What coset_operation_create() made; nullptr for built-in operations. Throws argument_error if it cannot be one.
operation_handle const* handle_of(coset_operation);

}  // namespace coset::capi
