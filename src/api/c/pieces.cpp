// SPDX-License-Identifier: Apache-2.0
// The collectives that move pieces, blocking and started.
#include "api/c/arguments.hpp"
#include "api/c/status.hpp"

using namespace coset::capi;
using coset::verb;

coset_status coset_gather(coset_member* me, void const* in, void* out, size_t piece, coset_type type, uint32_t root) {
  return guarded([&] { run(me, in_pieces(verb::gather, me, in, out, piece, type, COSET_PLUS, root)); });
}

coset_status coset_gather_counts(coset_member* me, void const* in, void* out, size_t const* counts, coset_type type,
                                 uint32_t root) {
  return guarded([&] { run(me, in_pieces(verb::gather, me, in, out, counts, type, COSET_PLUS, root)); });
}

coset_status coset_scatter(coset_member* me, void const* in, void* out, size_t piece, coset_type type, uint32_t root) {
  return guarded([&] { run(me, in_pieces(verb::scatter, me, in, out, piece, type, COSET_PLUS, root)); });
}

coset_status coset_scatter_counts(coset_member* me, void const* in, void* out, size_t const* counts, coset_type type,
                                  uint32_t root) {
  return guarded([&] { run(me, in_pieces(verb::scatter, me, in, out, counts, type, COSET_PLUS, root)); });
}

coset_status coset_all_to_all(coset_member* me, void const* in, void* out, size_t piece, coset_type type) {
  return guarded([&] { run(me, in_pieces(verb::all_to_all, me, in, out, piece, type)); });
}

coset_status coset_all_to_all_counts(coset_member* me, void const* in, void* out, size_t const* send_counts,
                                     size_t const* receive_counts, coset_type type) {
  return guarded([&] { exchange(me, in, out, send_counts, receive_counts, type); });
}

coset_status coset_start_gather(coset_member* me, void const* in, void* out, size_t piece, coset_type type,
                                uint32_t root, coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::gather, me, in, out, piece, type, COSET_PLUS, root), started); });
}

coset_status coset_start_gather_counts(coset_member* me, void const* in, void* out, size_t const* counts,
                                       coset_type type, uint32_t root, coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::gather, me, in, out, counts, type, COSET_PLUS, root), started); });
}

coset_status coset_start_scatter(coset_member* me, void const* in, void* out, size_t piece, coset_type type,
                                 uint32_t root, coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::scatter, me, in, out, piece, type, COSET_PLUS, root), started); });
}

coset_status coset_start_scatter_counts(coset_member* me, void const* in, void* out, size_t const* counts,
                                        coset_type type, uint32_t root, coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::scatter, me, in, out, counts, type, COSET_PLUS, root), started); });
}

coset_status coset_start_all_to_all(coset_member* me, void const* in, void* out, size_t piece, coset_type type,
                                    coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::all_to_all, me, in, out, piece, type), started); });
}
