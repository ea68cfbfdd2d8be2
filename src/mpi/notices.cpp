// SPDX-License-Identifier: Apache-2.0
#include "mpi/notices.hpp"

#include <algorithm>
#include <new>

namespace coset::mpi {

notice make_notice(std::uint32_t round, team_room::cause why, std::string_view reason) {
  notice made{round, why, {}, notice::nobody, notice::nobody, 0, 0};
  std::copy_n(reason.begin(), std::min(reason.size(), made.reason.size() - 1), made.reason.begin());
  return made;
}

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
    static_cast<void>(new (std::nothrow) std::list<letter>(std::move(sent_)));
    all_.let_go();
    return;
  }
}

void notices::receive_next() {
  require(MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, 0, all_.get(), &listening_), "MPI_Irecv");
}

std::optional<notice> notices::heard() {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return {};
  int done = 0;
  require(MPI_Test(&listening_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done == 0) return {};
  notice const came = incoming_;
  receive_next();
  return came;
}

/// A process that is gone need not hear.
void notices::send(int process, letter& l) {
  MPI_Isend(&l.what, sizeof l.what, MPI_BYTE, process, 0, all_.get(), &l.requests.emplace_back(MPI_REQUEST_NULL));
}

void notices::ask(int process, notice const& question) {
  std::lock_guard const lock(mutex_);
  sent_.remove_if([](letter& old) {
    int done = 0;
    MPI_Testall(static_cast<int>(old.requests.size()), old.requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
  letter& l = sent_.emplace_back();
  l.what = question;
  send(process, l);
}

void notices::tell(std::uint32_t round, team_room::cause why, std::string_view reason) noexcept try {
  std::lock_guard const lock(mutex_);
  if (told_ == round) return;
  told_ = round;
  letter& l = sent_.emplace_back();
  l.what = make_notice(round, why, reason);
  int const self = all_.rank(), size = all_.size();
  for (int p = 0; p < size; ++p) {
    if (p != self) send(p, l);
  }
} catch (std::exception const&) {
  // The others will find out at their deadline.
}

}  // namespace coset::mpi
