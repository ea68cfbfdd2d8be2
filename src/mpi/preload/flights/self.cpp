// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/flights/self.hpp"

#include <mutex>
#include <vector>

namespace coset::interpose {
namespace {

MPI_Comm own = MPI_COMM_NULL;

std::mutex taking;
auto& free_tags = *new std::vector<int>;  // used in destructors of static objects, too
int tags = 0;

}  // namespace

MPI_Comm self() noexcept { return own; }

/// Not a duplicate: that would copy the program's attributes.
void make_self() {
  if (own != MPI_COMM_NULL) return;
  MPI_Group alone;
  PMPI_Comm_group(MPI_COMM_SELF, &alone);
  PMPI_Comm_create(MPI_COMM_SELF, alone, &own);
  PMPI_Group_free(&alone);
  PMPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
}

void free_self() noexcept {
  if (own != MPI_COMM_NULL) PMPI_Comm_free(&own);
}

int take_tag() {
  std::lock_guard const lock(taking);
  if (free_tags.empty()) return tags++;
  int const tag = free_tags.back();
  free_tags.pop_back();
  return tag;
}

void give_back_tag(int tag) noexcept {
  std::lock_guard const lock(taking);
  free_tags.push_back(tag);
}

}  // namespace coset::interpose
