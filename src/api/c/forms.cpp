// SPDX-License-Identifier: Apache-2.0
// Which forms verbs have in C++ and in C. A verb without a row does not compile, nor a form that the interface lacks.
#include <array>
#include <cstddef>
#include <span>
#include <utility>
#include <vector>

#include "coset/coset.h"
#include "coset/coset.hpp"

namespace coset::capi {

/// What calls are made with, and none is carried out.
coset::member& me();
std::vector<float>& in();
std::vector<float>& out();
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
  forms cpp, c;
};

constexpr std::array rows{
    forms_of{verb::allreduce,
             {in_cpp<decltype(allreduce(me(), in(), out()))>, in_cpp<decltype(start_allreduce(me(), in(), out()))>,
              no_pieces, no_pieces},
             {in_c(coset_allreduce), in_c(coset_start_allreduce), no_pieces, no_pieces}},
    forms_of{verb::reduce,
             {in_cpp<decltype(reduce(me(), in(), out(), 0))>, in_cpp<decltype(start_reduce(me(), in(), out(), 0))>,
              no_pieces, no_pieces},
             {in_c(coset_reduce), in_c(coset_start_reduce), no_pieces, no_pieces}},
    forms_of{
        verb::reduce_scatter,
        {in_cpp<decltype(reduce_scatter(me(), in(), out()))>, in_cpp<decltype(start_reduce_scatter(me(), in(), out()))>,
         in_cpp<decltype(reduce_scatter(me(), in(), out(), counts()))>,
         in_cpp<decltype(start_reduce_scatter(me(), in(), out(), counts()))>},
        {in_c(coset_reduce_scatter), in_c(coset_start_reduce_scatter), in_c(coset_reduce_scatter_counts),
         in_c(coset_start_reduce_scatter_counts)}},
    forms_of{verb::allgather,
             {in_cpp<decltype(allgather(me(), in(), out()))>, in_cpp<decltype(start_allgather(me(), in(), out()))>,
              in_cpp<decltype(allgather(me(), in(), out(), counts()))>,
              in_cpp<decltype(start_allgather(me(), in(), out(), counts()))>},
             {in_c(coset_allgather), in_c(coset_start_allgather), in_c(coset_allgather_counts),
              in_c(coset_start_allgather_counts)}},
    forms_of{verb::broadcast,
             {in_cpp<decltype(broadcast(me(), out(), 0))>, in_cpp<decltype(start_broadcast(me(), out(), 0))>, no_pieces,
              no_pieces},
             {in_c(coset_broadcast), in_c(coset_start_broadcast), no_pieces, no_pieces}},
    forms_of{verb::scan,
             {in_cpp<decltype(scan(me(), in(), out()))>, in_cpp<decltype(start_scan(me(), in(), out()))>, no_pieces,
              no_pieces},
             {in_c(coset_scan), in_c(coset_start_scan), no_pieces, no_pieces}},
    forms_of{verb::exclusive_scan,
             {in_cpp<decltype(exclusive_scan(me(), in(), out()))>,
              in_cpp<decltype(start_exclusive_scan(me(), in(), out()))>, no_pieces, no_pieces},
             {in_c(coset_exclusive_scan), in_c(coset_start_exclusive_scan), no_pieces, no_pieces}},
    forms_of{verb::barrier,
             {in_cpp<decltype(barrier(me()))>, in_cpp<decltype(start_barrier(me()))>, no_pieces, no_pieces},
             {in_c(coset_barrier), in_c(coset_start_barrier), no_pieces, no_pieces}},
    forms_of{verb::reduce_shared,
             {in_cpp<decltype(reduce_shared(me(), in(), out()))>,
              in_cpp<decltype(start_reduce_shared(me(), in(), out()))>, no_pieces, no_pieces},
             {in_c(coset_reduce_shared), in_c(coset_start_reduce_shared), no_pieces, no_pieces}},
    forms_of{verb::allreduce_view,
             {in_cpp<decltype(allreduce_view(me(), in()))>, view_ends, no_pieces, no_pieces},
             {in_c(coset_allreduce_view), view_ends, no_pieces, no_pieces}},
    forms_of{
        verb::gather,
        {in_cpp<decltype(gather(me(), in(), out(), 0))>, in_cpp<decltype(start_gather(me(), in(), out(), 0))>,
         in_cpp<decltype(gather(me(), in(), out(), 0, counts()))>,
         in_cpp<decltype(start_gather(me(), in(), out(), 0, counts()))>},
        {in_c(coset_gather), in_c(coset_start_gather), in_c(coset_gather_counts), in_c(coset_start_gather_counts)}},
    forms_of{
        verb::scatter,
        {in_cpp<decltype(scatter(me(), in(), out(), 0))>, in_cpp<decltype(start_scatter(me(), in(), out(), 0))>,
         in_cpp<decltype(scatter(me(), in(), out(), 0, counts()))>,
         in_cpp<decltype(start_scatter(me(), in(), out(), 0, counts()))>},
        {in_c(coset_scatter), in_c(coset_start_scatter), in_c(coset_scatter_counts), in_c(coset_start_scatter_counts)}},
    forms_of{verb::all_to_all,
             {in_cpp<decltype(all_to_all(me(), in(), out()))>, in_cpp<decltype(start_all_to_all(me(), in(), out()))>,
              in_cpp<decltype(all_to_all(me(), in(), out(), counts(), counts()))>, two_exchanges},
             {in_c(coset_all_to_all), in_c(coset_start_all_to_all), in_c(coset_all_to_all_counts), two_exchanges}},
};

/// Every verb in its place, and counts for those, and those only, whose vector is made of pieces.
constexpr bool are_complete() {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    bool const has_pieces = coset::detail::is_of_pieces(rows[i].what);
    if (rows[i].what != coset::detail::verb_rows[i].what) return false;
    for (forms const& in : {rows[i].cpp, rows[i].c})
      if ((in.with_counts.why_not == nullptr) != has_pieces) return false;
  }
  return rows.size() == coset::detail::verb_rows.size();
}
static_assert(are_complete());

}  // namespace
}  // namespace coset::capi
