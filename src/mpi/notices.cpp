// SPDX-License-Identifier: Apache-2.0
#include "mpi/notices.hpp"

#include <algorithm>

namespace coset::mpi {

notices::notices(MPI_Comm of) : all_(communicator::duplicate_of(of)) { receive_next(); }

/// Letters to processes that are gone stay under way: their memory is left to MPI.
notices::~notices() {
  if (listening_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&listening_);
    MPI_Wait(&listening_, MPI_STATUS_IGNORE);
  }
  for (letter& l : sent_) {
    int done = 0;
    MPI_Testall(static_cast<int>(l.requests.size()), l.requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) continue;
    new std::list<letter>(std::move(sent_));
    all_.let_go();
    return;
  }
}

void notices::receive_next() {
  require(MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, 0, all_.get(), &listening_), "MPI_Irecv");
}

bool notices::has_come() {
  // What was here has been heard by now.
  if (listening_ == MPI_REQUEST_NULL) receive_next();
  int done = 0;
  require(MPI_Test(&listening_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

void notices::tell(std::uint32_t round, team_room::cause why, std::string_view reason) noexcept try {
  std::lock_guard const lock(mutex_);
  if (told_ == round) return;
  told_ = round;
  letter& l = sent_.emplace_back();
  l.what = {round, why, {}};
  std::copy_n(reason.begin(), std::min(reason.size(), l.what.reason.size() - 1), l.what.reason.begin());
  int const self = all_.rank(), size = all_.size();
  for (int p = 0; p < size; ++p) {
    if (p == self) continue;
    // A process that is gone need not hear.
    MPI_Isend(&l.what, sizeof l.what, MPI_BYTE, p, 0, all_.get(), &l.requests.emplace_back(MPI_REQUEST_NULL));
  }
} catch (std::exception const&) {
  // The others will find out at their deadline.
}

}  // namespace coset::mpi
