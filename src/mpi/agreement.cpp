// SPDX-License-Identifier: Apache-2.0
#include "mpi/agreement.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

namespace coset::inline COSET_ABI::mpi {
namespace {

char const* name_of(occasion at) {
  switch (at) {
    case occasion::constructing:
      return "constructs its team";
    case occasion::beginning:
      return "begins a run";
    case occasion::prepared:
      return "is prepared for a run";
    case occasion::ending:
      return "ends a run";
    case occasion::clearing:
      return "ends a run that has failed";
    case occasion::destroying:
      break;
  }
  return "has destroyed its team";
}

using place = record::place;

auto order_of(place const& p) { return std::pair(p.at, p.round); }

/// The lower process of two that have come as far.
place nearer(place const& one, place const& other) {
  if (order_of(one) == order_of(other)) return one.process < other.process ? one : other;
  return order_of(one) < order_of(other) ? one : other;
}

place farther(place const& one, place const& other) {
  if (order_of(one) == order_of(other)) return one.process < other.process ? one : other;
  return order_of(one) > order_of(other) ? one : other;
}

record::range spanned(record::range const& one, record::range const& other) {
  record::range both;
  both.least = std::min(one.least, other.least);
  both.most = std::max(one.most, other.most);
  return both;
}

/// Names the process that is farthest: if it destroys a team, it has left the order of the others.
void require_one_occasion(record const& all) {
  if (order_of(all.nearest) == order_of(all.farthest)) return;
  fail(runtime::words("process %d %s while process %d %s", all.farthest.process, name_of(all.farthest.at),
                      all.nearest.process, name_of(all.nearest.at)));
}

/// MPI says nothing of how its own buffers are aligned.
extern "C" void combine_for_mpi(void* in, void* in_and_out, int* count, MPI_Datatype*) {
  for (std::size_t k = 0; k < static_cast<std::size_t>(*count); ++k) {
    record one(occasion::constructing), other = one;
    std::memcpy(&one, static_cast<std::byte*>(in) + k * sizeof one, sizeof one);
    std::memcpy(&other, static_cast<std::byte*>(in_and_out) + k * sizeof other, sizeof other);
    other = together(one, other);
    std::memcpy(static_cast<std::byte*>(in_and_out) + k * sizeof other, &other, sizeof other);
  }
}

}  // namespace

char const* awaited_at(occasion at) {
  switch (at) {
    case occasion::constructing:
      return "all processes to construct their team";
    case occasion::beginning:
    case occasion::prepared:
      return "all processes to begin their run()";
    case occasion::ending:
    case occasion::clearing:
      return "all processes to end their run()";
    case occasion::destroying:
      break;
  }
  return "all processes to destroy their team";
}

void record::say(std::string_view words) {
  std::size_t const length = std::min(words.size(), reason.size() - 1);
  std::copy_n(words.begin(), length, reason.begin());
  reason[length] = '\0';
}

record together(record const& one, record const& other) {
  record both = one.unwell <= other.unwell ? one : other;  // no two processes have the same number
  both.nearest = nearer(one.nearest, other.nearest);
  both.farthest = farther(one.farthest, other.farthest);
  both.failed = one.failed || other.failed;
  both.all_record = one.all_record && other.all_record;
  both.wishes = spanned(one.wishes, other.wishes);
  both.threads.kind = spanned(one.threads.kind, other.threads.kind);
  both.from_pool = {one.from_pool.kept & other.from_pool.kept, one.from_pool.vacant & other.from_pool.vacant,
                    one.from_pool.surveys & other.from_pool.surveys};
  both.threads.mode = one.threads.mode | other.threads.mode;
  both.latest_round = std::max(one.latest_round, other.latest_round);
  for (std::size_t c = 0; c < both.furthest.size(); ++c)
    both.furthest[c] = runtime::further(one.furthest[c], other.furthest[c]);
  return both;
}

agreement::agreement() {
  require(MPI_Type_contiguous(sizeof(record), MPI_BYTE, &type_), "MPI_Type_contiguous");
  require(MPI_Type_commit(&type_), "MPI_Type_commit");
  require(MPI_Op_create(combine_for_mpi, 1, &op_), "MPI_Op_create");
}

/// MPI may still combine the records of an exchange that was given up.
agreement::~agreement() {
  if (given_up_) return;
  MPI_Op_free(&op_);
  MPI_Type_free(&type_);
}

record agreement::reach(communicator const& all, exchange<record>& room, record mine, patience longest,
                        std::function<void()> const& meanwhile) {
  mine.nearest.process = mine.farthest.process = all.rank();
  record everywhere = mine;
  try {
    everywhere = reduce_over_all(all, room, mine, type_, op_, longest, meanwhile, awaited_at(mine.nearest.at));
  } catch (...) {
    given_up_ = true;
    throw;
  }
  require_one_occasion(everywhere);
  return everywhere;
}

}  // namespace coset::mpi
