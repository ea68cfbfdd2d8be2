// SPDX-License-Identifier: Apache-2.0
// The collectives, blocking and started.
#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "bindings/c/arguments.hpp"
#include "bindings/c/status.hpp"
#include "coset/coset.hpp"

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

// Which forms verbs have in C++ and in C. A verb without a row does not compile, nor a form that an interface lacks.
namespace coset::capi {

/// What calls are made with, and none is carried out.
coset::member& me();
std::vector<float>& given();
std::vector<float>& gotten();
std::span<std::size_t const> counts();

namespace {

/// There, or the reason why it is not.
struct form {
  char const* why_not = nullptr;
};
template <class Result>
constexpr form in_cpp{};  ///< of a call
constexpr form in_c(auto* /*function*/) { return {}; }

constexpr form no_pieces{"its vector is not made of pieces"},
    view_ends{"a view lasts until the next call of its verb, so nothing may be under way meanwhile"},
    two_exchanges{"each rank knows its own counts only: the second of two exchanges needs what the first has brought"};

/// In one language.
struct forms {
  form blocking, started, with_counts, started_with_counts;
};
struct forms_of {
  verb what;
  int number;  ///< in C, of plans
  forms cpp, c;
};
constexpr int no_plan = -1;

constexpr std::array rows{
    forms_of{verb::allreduce,
             COSET_VERB_ALLREDUCE,
             {in_cpp<decltype(allreduce(me(), given(), gotten()))>,
              in_cpp<decltype(start_allreduce(me(), given(), gotten()))>, no_pieces, no_pieces},
             {in_c(coset_allreduce), in_c(coset_start_allreduce), no_pieces, no_pieces}},
    forms_of{verb::reduce,
             COSET_VERB_REDUCE,
             {in_cpp<decltype(reduce(me(), given(), gotten(), 0))>,
              in_cpp<decltype(start_reduce(me(), given(), gotten(), 0))>, no_pieces, no_pieces},
             {in_c(coset_reduce), in_c(coset_start_reduce), no_pieces, no_pieces}},
    forms_of{verb::reduce_scatter,
             COSET_VERB_REDUCE_SCATTER,
             {in_cpp<decltype(reduce_scatter(me(), given(), gotten()))>,
              in_cpp<decltype(start_reduce_scatter(me(), given(), gotten()))>,
              in_cpp<decltype(reduce_scatter(me(), given(), gotten(), counts()))>,
              in_cpp<decltype(start_reduce_scatter(me(), given(), gotten(), counts()))>},
             {in_c(coset_reduce_scatter), in_c(coset_start_reduce_scatter), in_c(coset_reduce_scatter_counts),
              in_c(coset_start_reduce_scatter_counts)}},
    forms_of{verb::allgather,
             COSET_VERB_ALLGATHER,
             {in_cpp<decltype(allgather(me(), given(), gotten()))>,
              in_cpp<decltype(start_allgather(me(), given(), gotten()))>,
              in_cpp<decltype(allgather(me(), given(), gotten(), counts()))>,
              in_cpp<decltype(start_allgather(me(), given(), gotten(), counts()))>},
             {in_c(coset_allgather), in_c(coset_start_allgather), in_c(coset_allgather_counts),
              in_c(coset_start_allgather_counts)}},
    forms_of{verb::broadcast,
             COSET_VERB_BROADCAST,
             {in_cpp<decltype(broadcast(me(), gotten(), 0))>, in_cpp<decltype(start_broadcast(me(), gotten(), 0))>,
              no_pieces, no_pieces},
             {in_c(coset_broadcast), in_c(coset_start_broadcast), no_pieces, no_pieces}},
    forms_of{verb::scan,
             COSET_VERB_SCAN,
             {in_cpp<decltype(scan(me(), given(), gotten()))>, in_cpp<decltype(start_scan(me(), given(), gotten()))>,
              no_pieces, no_pieces},
             {in_c(coset_scan), in_c(coset_start_scan), no_pieces, no_pieces}},
    forms_of{verb::exclusive_scan,
             COSET_VERB_EXCLUSIVE_SCAN,
             {in_cpp<decltype(exclusive_scan(me(), given(), gotten()))>,
              in_cpp<decltype(start_exclusive_scan(me(), given(), gotten()))>, no_pieces, no_pieces},
             {in_c(coset_exclusive_scan), in_c(coset_start_exclusive_scan), no_pieces, no_pieces}},
    forms_of{verb::barrier,
             COSET_VERB_BARRIER,
             {in_cpp<decltype(barrier(me()))>, in_cpp<decltype(start_barrier(me()))>, no_pieces, no_pieces},
             {in_c(coset_barrier), in_c(coset_start_barrier), no_pieces, no_pieces}},
    forms_of{verb::reduce_shared,
             COSET_VERB_REDUCE_SHARED,
             {in_cpp<decltype(reduce_shared(me(), given(), gotten()))>,
              in_cpp<decltype(start_reduce_shared(me(), given(), gotten()))>, no_pieces, no_pieces},
             {in_c(coset_reduce_shared), in_c(coset_start_reduce_shared), no_pieces, no_pieces}},
    forms_of{verb::allreduce_view,
             no_plan,
             {in_cpp<decltype(allreduce_view(me(), given()))>, view_ends, no_pieces, no_pieces},
             {in_c(coset_allreduce_view), view_ends, no_pieces, no_pieces}},
    forms_of{
        verb::gather,
        COSET_VERB_GATHER,
        {in_cpp<decltype(gather(me(), given(), gotten(), 0))>,
         in_cpp<decltype(start_gather(me(), given(), gotten(), 0))>,
         in_cpp<decltype(gather(me(), given(), gotten(), 0, counts()))>,
         in_cpp<decltype(start_gather(me(), given(), gotten(), 0, counts()))>},
        {in_c(coset_gather), in_c(coset_start_gather), in_c(coset_gather_counts), in_c(coset_start_gather_counts)}},
    forms_of{
        verb::scatter,
        COSET_VERB_SCATTER,
        {in_cpp<decltype(scatter(me(), given(), gotten(), 0))>,
         in_cpp<decltype(start_scatter(me(), given(), gotten(), 0))>,
         in_cpp<decltype(scatter(me(), given(), gotten(), 0, counts()))>,
         in_cpp<decltype(start_scatter(me(), given(), gotten(), 0, counts()))>},
        {in_c(coset_scatter), in_c(coset_start_scatter), in_c(coset_scatter_counts), in_c(coset_start_scatter_counts)}},
    forms_of{verb::all_to_all,
             COSET_VERB_ALL_TO_ALL,
             {in_cpp<decltype(all_to_all(me(), given(), gotten()))>,
              in_cpp<decltype(start_all_to_all(me(), given(), gotten()))>,
              in_cpp<decltype(all_to_all(me(), given(), gotten(), counts(), counts()))>, two_exchanges},
             {in_c(coset_all_to_all), in_c(coset_start_all_to_all), in_c(coset_all_to_all_counts), two_exchanges}},
};

/// Every verb in its place and with its number, and counts for those, and those only, whose vector is made of pieces.
constexpr bool are_complete() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bool const has_pieces = coset::detail::is_of_pieces(rows[i].what);
    bool const is_numbered = rows[i].number == no_plan || rows[i].number == static_cast<int>(i);
    if (rows[i].what != coset::detail::verb_rows[i].what || !is_numbered) return false;
    for (forms const& in : {rows[i].cpp, rows[i].c})
      if ((in.with_counts.why_not == nullptr) != has_pieces) return false;
  }
  return rows.size() == coset::detail::verb_rows.size();
}
static_assert(are_complete());

}  // namespace
}  // namespace coset::capi
