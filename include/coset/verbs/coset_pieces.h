// SPDX-License-Identifier: Apache-2.0
// Collectives for C that move pieces: gather, scatter, all_to_all. coset.h includes this header and provides what it needs.
#ifndef COSET_VERBS_COSET_PIECES_H
#define COSET_VERBS_COSET_PIECES_H

// NOLINTBEGIN(modernize-*): this is C

#include "coset/coset.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Of plans, see coset_verb.
enum { COSET_VERB_GATHER = 10, COSET_VERB_SCATTER = 11, COSET_VERB_ALL_TO_ALL = 12 };

/// Gathers all pieces on rank `root`: `out` is P·piece elements there and gets rank r's `in`, of `piece` elements, at
/// r·piece; other ranks' `out` is ignored. On the root `in` may be its own piece of `out`, or COSET_IN_PLACE, which means
/// that.
COSET_API coset_status coset_gather(coset_member*, void const* in, void* out, size_t piece, coset_type, uint32_t root);
/// The same with counts[r] elements from rank r; the same P counts on every rank.
COSET_API coset_status coset_gather_counts(coset_member*, void const* in, void* out, size_t const* counts, coset_type,
                                           uint32_t root);

/// Splits rank `root`'s `in` of P·piece elements: rank r's `out` gets those from r·piece on; other ranks' `in` is ignored.
/// On the root `out` may be its own piece of `in`; with COSET_IN_PLACE there, `out` is the whole array, and stays as it is.
COSET_API coset_status coset_scatter(coset_member*, void const* in, void* out, size_t piece, coset_type, uint32_t root);
/// The same with a piece of counts[r] elements for rank r, one after the other; the same P counts on every rank.
COSET_API coset_status coset_scatter_counts(coset_member*, void const* in, void* out, size_t const* counts, coset_type,
                                            uint32_t root);

/// `in` is a piece for each rank, the d-th for rank d; rank d's `out` gets the piece of rank o at o·piece. In place only if
/// all ranks call it in place.
COSET_API coset_status coset_all_to_all(coset_member*, void const* in, void* out, size_t piece, coset_type);
/// The same with send_counts[d] elements for rank d and receive_counts[o] from rank o, one after the other: P counts each,
/// which other ranks need not know. Not in place. COSET_ARGUMENT_ERROR on every rank where some rank expects another length,
/// or other elements, than it is sent.
COSET_API coset_status coset_all_to_all_counts(coset_member*, void const* in, void* out, size_t const* send_counts,
                                               size_t const* receive_counts, coset_type);

COSET_API coset_status coset_start_gather(coset_member*, void const* in, void* out, size_t piece, coset_type,
                                          uint32_t root, coset_request* started);
COSET_API coset_status coset_start_gather_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                                 coset_type, uint32_t root, coset_request* started);
COSET_API coset_status coset_start_scatter(coset_member*, void const* in, void* out, size_t piece, coset_type,
                                           uint32_t root, coset_request* started);
COSET_API coset_status coset_start_scatter_counts(coset_member*, void const* in, void* out, size_t const* counts,
                                                  coset_type, uint32_t root, coset_request* started);
COSET_API coset_status coset_start_all_to_all(coset_member*, void const* in, void* out, size_t piece, coset_type,
                                              coset_request* started);

#ifdef __cplusplus
}
#endif

// NOLINTEND(modernize-*)

#endif
