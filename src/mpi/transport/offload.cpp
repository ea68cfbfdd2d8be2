// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/offload.hpp"

#include <algorithm>
#include <climits>

#include "base/text/format.hpp"
#include "runtime/memory/lines.hpp"
#include "runtime/transport/offload.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

extern "C" void fold_for_mpi(void* lower, void* higher, int* count, MPI_Datatype* type);

/// What MPI knows about coset's operations, made when the first is needed and valid until MPI_Finalize.
struct vocabulary {
  int items = MPI_KEYVAL_INVALID;  ///< the attribute of datatypes
  MPI_Op commutative = MPI_OP_NULL, ordered = MPI_OP_NULL;

  vocabulary() {
    require(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &items, nullptr),
            "MPI_Type_create_keyval");
    require(MPI_Op_create(fold_for_mpi, 1, &commutative), "MPI_Op_create");
    require(MPI_Op_create(fold_for_mpi, 0, &ordered), "MPI_Op_create");
  }
};

vocabulary const& words() {
  static vocabulary const made;
  return made;
}

void fold_for_mpi(void* lower, void* higher, int* count, MPI_Datatype* type) {
  void* found = nullptr;
  int is_there = 0;
  MPI_Type_get_attr(*type, words().items, &found, &is_there);
  runtime::fold_onto(*static_cast<runtime::offloaded_items const*>(found), lower, higher,
                     static_cast<std::size_t>(*count));
}

}  // namespace

circles::circles(std::vector<std::vector<int>> members) : members_(std::move(members)) {
  while (made_.size() < members_.size()) made_.emplace_back(runtime::channels);
}

void circles::open(communicator const& all) {
  for (std::uint32_t slice = 0; slice < members_.size(); ++slice) make_anew(all, slice, (1u << runtime::channels) - 1);
}

MPI_Comm circles::of(std::uint32_t slice, std::uint32_t channel) const { return made_[slice][channel].get(); }

void circles::make_anew(communicator const& all, std::uint32_t slice, std::uint32_t channels) {
  auto const here = std::ranges::find(members_[slice], all.rank());
  bool const belongs = here != members_[slice].end();
  for (std::uint32_t c = 0; c < runtime::channels; ++c) {
    if ((channels >> c & 1) == 0) continue;
    made_[slice][c].let_go();
    made_[slice][c] = communicator::part_of(all.get(), belongs, static_cast<int>(here - members_[slice].begin()));
  }
}

std::byte* offloaded_allreduce::room(std::size_t bytes) {
  if (room_.size() < bytes) room_.resize(bytes);
  return room_.data();
}

void offloaded_allreduce::begin(MPI_Comm among, runtime::offloaded_items const& items, std::size_t count) {
  detail::reduction_table const& reduction = *items.reduction;
  std::size_t const bytes = items.what == detail::form::partial ? reduction.partial_bytes : reduction.element_bytes;
  if (count > INT_MAX || bytes > INT_MAX) {
    throw error(text::format("an offload of {} elements of {} bytes: MPI counts both up to {}", count, bytes, INT_MAX));
  }
  of_ = items;
  require(MPI_Type_contiguous(static_cast<int>(bytes), MPI_BYTE, &type_), "MPI_Type_contiguous");
  require(MPI_Type_set_attr(type_, words().items, &*of_), "MPI_Type_set_attr");
  require(MPI_Type_commit(&type_), "MPI_Type_commit");
  require(MPI_Iallreduce(MPI_IN_PLACE, room_.data(), static_cast<int>(count), type_,
                         reduction.commutative ? words().commutative : words().ordered, among, &request_),
          "MPI_Iallreduce");
}

bool offloaded_allreduce::is_done() {
  int done = 0;
  require(MPI_Test(&request_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done != 0 && type_ != MPI_DATATYPE_NULL) require(MPI_Type_free(&type_), "MPI_Type_free");
  return done != 0;
}

}  // namespace coset::mpi
