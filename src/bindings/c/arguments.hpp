// SPDX-License-Identifier: Apache-2.0
// Turns the arguments of a C call into an erased one. Mistakes in them are reported to every rank of the team.
#pragma once

#include <cstddef>

#include "bindings/c/handles.hpp"
#include "bindings/c/tables.hpp"
#include "coset/coset.h"
#include "coset/detail/collective.hpp"

namespace coset::capi {

/// A call and the owner of its operation.
struct made_call {
  detail::call erased;
  reduction how;
};

/// For verbs for which every rank has the whole vector.
made_call whole(verb, coset_member*, void const* in, void* out, std::size_t count, coset_type, coset_operation,
                rank_t root = 0);
/// For verbs for which every rank has a piece; the operation counts only if the verb applies one.
made_call in_pieces(verb, coset_member*, void const* in, void* out, std::size_t piece, coset_type,
                    coset_operation = COSET_PLUS, rank_t root = 0);
made_call in_pieces(verb, coset_member*, void const* in, void* out, std::size_t const* counts, coset_type,
                    coset_operation = COSET_PLUS, rank_t root = 0);
/// all_to_all of pieces of any length. It blocks.
void exchange(coset_member*, void const* in, void* out, std::size_t const* sent, std::size_t const* received,
              coset_type);
made_call broadcast(coset_member*, void* data, std::size_t count, coset_type, rank_t root);
made_call barrier(coset_member*);

/// run() blocks; start() fills the request by which the caller waits.
void run(coset_member*, made_call const&);
void start(coset_member*, made_call const&, coset_request*);

/// As require(), and reports the mistake to every rank of the team.
void require_told(coset_member*, void const* pointer, char const* name);

/// Puts a request where the caller has room for it.
void put(request&&, coset_request*);

/// The places and bytes of a rank's input and output.
struct places {
  void const* in;
  std::size_t in_bytes;
  void* out;
  std::size_t out_bytes;
};

/// Resolves COSET_IN_PLACE. `before`: bytes of the whole that belong to lower ranks. Throws argument_error for arrays
/// that have no place.
void settle(places&, verb, rank_t, std::size_t before);

/// The state of the member, which must not be NULL.
detail::rank_state& state_of(coset_member*);

}  // namespace coset::capi
