// SPDX-License-Identifier: Apache-2.0
// From the arguments of a C call to an erased one. What is wrong with them is told to every rank of the team.
#pragma once

#include <cstddef>

#include "api/c/handles.hpp"
#include "api/c/tables.hpp"
#include "coset/coset.h"
#include "coset/detail/collective.hpp"

namespace coset::capi {

/// A call and what keeps its operation.
struct made_call {
  detail::call erased;
  reduction how;
};

/// Of verbs for which every rank has the whole vector.
made_call whole(verb, coset_member*, void const* in, void* out, std::size_t count, coset_type, coset_operation,
                rank_t root = 0);
/// Of verbs for which every rank has a piece; the operation counts only where one is applied.
made_call in_pieces(verb, coset_member*, void const* in, void* out, std::size_t piece, coset_type,
                    coset_operation = COSET_PLUS);
made_call in_pieces(verb, coset_member*, void const* in, void* out, std::size_t const* counts, coset_type,
                    coset_operation = COSET_PLUS);
made_call broadcast(coset_member*, void* data, std::size_t count, coset_type, rank_t root);
made_call barrier(coset_member*);

/// Blocking, or to be waited for by the request that is filled.
void run(coset_member*, made_call const&);
void start(coset_member*, made_call const&, coset_request*);

/// As require(), and every rank of the team is told.
void require_told(coset_member*, void const* pointer, char const* name);

/// Puts a request where the caller has room for it.
void put(request&&, coset_request*);

/// What a rank gives and gets, in bytes.
struct places {
  void const* in;
  std::size_t in_bytes;
  void* out;
  std::size_t out_bytes;
};

/// Resolves COSET_IN_PLACE. `before`: bytes of the whole that belong to lower ranks. Throws argument_error for what is NULL
/// or has no place.
void settle(places&, verb, rank_t, std::size_t before);

bool by_pieces(verb) noexcept;
std::size_t product(std::size_t, std::size_t);

/// The state of the member, which must not be NULL.
detail::rank_state& state_of(coset_member*);

}  // namespace coset::capi
