// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/failure_notices.hpp"

#include <algorithm>
#include <new>
#include <string>

namespace coset::mpi {

notice make_notice(notice::kind what, std::uint32_t round, runtime::cause why, std::string_view reason) {
  notice made{what, round, why, {}, 0, 0, 0, 0, 0, 0};
  std::copy_n(reason.begin(), std::min(reason.size(), made.reason.size() - 1), made.reason.begin());
  return made;
}

failure_notices::failure_notices(communicator const& of) : all_(of) { receive_next(); }

void failure_notices::stop_listening() noexcept {
  std::lock_guard const lock(mutex_);  // ranks may still be listening
  if (listening_ == MPI_REQUEST_NULL) return;
  MPI_Cancel(&listening_);
  MPI_Wait(&listening_, MPI_STATUS_IGNORE);
}

/// Notices to processes that are gone stay under way: their memory is left to MPI.
failure_notices::~failure_notices() {
  stop_listening();
  for (letter& l : sent_) {
    int done = 0;
    MPI_Testall(static_cast<int>(l.requests.size()), l.requests.data(), &done, MPI_STATUSES_IGNORE);
    if (done != 0) continue;
    static_cast<void>(new (std::nothrow) std::list<letter>(std::move(sent_)));
    return;
  }
}

void failure_notices::receive_next() {
  require(MPI_Irecv(&incoming_, sizeof incoming_, MPI_BYTE, MPI_ANY_SOURCE, 0, all_.get(), &listening_), "MPI_Irecv");
}

std::optional<notice> failure_notices::heard() {
  std::unique_lock const lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock() || listening_ == MPI_REQUEST_NULL) return {};
  int done = 0;
  require(MPI_Test(&listening_, &done, MPI_STATUS_IGNORE), "MPI_Test");
  if (done == 0) return {};
  notice const came = incoming_;
  receive_next();
  return came;
}

/// Errors are ignored: a process that is gone need not hear.
void failure_notices::send(int process, letter& l) {
  MPI_Isend(&l.what, sizeof l.what, MPI_BYTE, process, 0, all_.get(), &l.requests.emplace_back(MPI_REQUEST_NULL));
}

void failure_notices::ask(int process, notice const& question) {
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

void failure_notices::send_to_all(notice const& what) {
  letter& l = sent_.emplace_back();
  l.what = what;
  int const self = all_.rank(), size = all_.size();
  for (int p = 0; p < size; ++p) {
    if (p != self) send(p, l);
  }
}

void failure_notices::tell(std::uint32_t round, runtime::cause why, std::string_view reason) noexcept try {
  std::lock_guard const lock(mutex_);
  bool const of_end = why == runtime::cause::messages;
  if (of_end ? told_of_end_ : told_ == round) return;
  told_ = round;
  told_of_end_ |= of_end;
  send_to_all(make_notice(notice::kind::failure, round, why, reason));
} catch (std::exception const&) {
  // The others will find out at their deadline.
}

void failure_notices::take_leave(std::uint32_t round) noexcept try {
  std::lock_guard const lock(mutex_);
  send_to_all(make_notice(notice::kind::farewell, round, runtime::cause::messages,
                          "process " + std::to_string(all_.rank()) + " has destroyed its team"));
} catch (std::exception const&) {
  // The others will find out when they destroy their teams.
}

}  // namespace coset::mpi
