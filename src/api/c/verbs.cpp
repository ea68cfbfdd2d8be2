// SPDX-License-Identifier: Apache-2.0
// The collectives, blocking and started.
#include "api/c/arguments.hpp"
#include "api/c/status.hpp"

using namespace coset::capi;
using coset::verb;

coset_status coset_allreduce(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                             coset_operation op) {
  return guarded([&] { run(me, whole(verb::allreduce, me, in, out, count, type, op)); });
}

coset_status coset_reduce_shared(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                                 coset_operation op) {
  return guarded([&] { run(me, whole(verb::reduce_shared, me, in, out, count, type, op)); });
}

coset_status coset_reduce(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                          coset_operation op, uint32_t root) {
  return guarded([&] { run(me, whole(verb::reduce, me, in, out, count, type, op, root)); });
}

coset_status coset_reduce_scatter(coset_member* me, void const* in, void* out, size_t piece, coset_type type,
                                  coset_operation op) {
  return guarded([&] { run(me, in_pieces(verb::reduce_scatter, me, in, out, piece, type, op)); });
}

coset_status coset_reduce_scatter_counts(coset_member* me, void const* in, void* out, size_t const* counts,
                                         coset_type type, coset_operation op) {
  return guarded([&] { run(me, in_pieces(verb::reduce_scatter, me, in, out, counts, type, op)); });
}

coset_status coset_allgather(coset_member* me, void const* in, void* out, size_t piece, coset_type type) {
  return guarded([&] { run(me, in_pieces(verb::allgather, me, in, out, piece, type)); });
}

coset_status coset_allgather_counts(coset_member* me, void const* in, void* out, size_t const* counts,
                                    coset_type type) {
  return guarded([&] { run(me, in_pieces(verb::allgather, me, in, out, counts, type)); });
}

coset_status coset_broadcast(coset_member* me, void* data, size_t count, coset_type type, uint32_t root) {
  return guarded([&] { run(me, broadcast(me, data, count, type, root)); });
}

coset_status coset_barrier(coset_member* me) {
  return guarded([&] { run(me, barrier(me)); });
}

coset_status coset_scan(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                        coset_operation op) {
  return guarded([&] { run(me, whole(verb::scan, me, in, out, count, type, op)); });
}

coset_status coset_exclusive_scan(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                                  coset_operation op) {
  return guarded([&] { run(me, whole(verb::exclusive_scan, me, in, out, count, type, op)); });
}

coset_status coset_allreduce_view(coset_member* me, void const* in, size_t count, coset_type type, coset_operation op,
                                  void const** out) {
  return guarded([&] {
    made_call const c = whole(verb::allreduce_view, me, in, nullptr, count, type, op);
    require_told(me, out, "the place for a view");
    *out = coset::detail::run_view(state_of(me), c.erased);
  });
}

coset_status coset_start_allreduce(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                                   coset_operation op, coset_request* started) {
  return guarded([&] { start(me, whole(verb::allreduce, me, in, out, count, type, op), started); });
}

coset_status coset_start_reduce_shared(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                                       coset_operation op, coset_request* started) {
  return guarded([&] { start(me, whole(verb::reduce_shared, me, in, out, count, type, op), started); });
}

coset_status coset_start_reduce(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                                coset_operation op, uint32_t root, coset_request* started) {
  return guarded([&] { start(me, whole(verb::reduce, me, in, out, count, type, op, root), started); });
}

coset_status coset_start_reduce_scatter(coset_member* me, void const* in, void* out, size_t piece, coset_type type,
                                        coset_operation op, coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::reduce_scatter, me, in, out, piece, type, op), started); });
}

coset_status coset_start_reduce_scatter_counts(coset_member* me, void const* in, void* out, size_t const* counts,
                                               coset_type type, coset_operation op, coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::reduce_scatter, me, in, out, counts, type, op), started); });
}

coset_status coset_start_allgather(coset_member* me, void const* in, void* out, size_t piece, coset_type type,
                                   coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::allgather, me, in, out, piece, type), started); });
}

coset_status coset_start_allgather_counts(coset_member* me, void const* in, void* out, size_t const* counts,
                                          coset_type type, coset_request* started) {
  return guarded([&] { start(me, in_pieces(verb::allgather, me, in, out, counts, type), started); });
}

coset_status coset_start_broadcast(coset_member* me, void* data, size_t count, coset_type type, uint32_t root,
                                   coset_request* started) {
  return guarded([&] { start(me, broadcast(me, data, count, type, root), started); });
}

coset_status coset_start_barrier(coset_member* me, coset_request* started) {
  return guarded([&] { start(me, barrier(me), started); });
}

coset_status coset_start_scan(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                              coset_operation op, coset_request* started) {
  return guarded([&] { start(me, whole(verb::scan, me, in, out, count, type, op), started); });
}

coset_status coset_start_exclusive_scan(coset_member* me, void const* in, void* out, size_t count, coset_type type,
                                        coset_operation op, coset_request* started) {
  return guarded([&] { start(me, whole(verb::exclusive_scan, me, in, out, count, type, op), started); });
}

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
