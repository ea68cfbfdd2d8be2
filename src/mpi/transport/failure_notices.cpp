// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/failure_notices.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <thread>

namespace coset::inline COSET_ABI::mpi {

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
  if (!all_has_gone_out()) static_cast<void>(new (std::nothrow) std::list<letter>(std::move(sent_)));
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
  ++heard_;
  receive_next();
  return came;
}

/// The numbers of messages take memory for each process, but hardly any team has sent one.
void failure_notices::hear_the_rest() {
  if (reduce_over_all(all_, static_cast<int>(!sent_to_.empty()), MPI_INT, MPI_MAX) == 0) return;
  sent_to_.resize(static_cast<std::size_t>(all_.size()));
  int all_to_this_one = 0;
  require(MPI_Reduce_scatter_block(sent_to_.data(), &all_to_this_one, 1, MPI_INT, MPI_SUM, all_.get()),
          "MPI_Reduce_scatter_block");
  while (heard_ < all_to_this_one || !all_has_gone_out()) {
    heard();
    std::this_thread::yield();
  }
}

/// Errors are ignored: a process that is gone need not hear.
void failure_notices::send(int process, letter& l) {
  if (sent_to_.empty()) sent_to_.resize(static_cast<std::size_t>(all_.size()));
  ++sent_to_[static_cast<std::size_t>(process)];
  MPI_Isend(&l.what, sizeof l.what, MPI_BYTE, process, 0, all_.get(), &l.requests.emplace_back(MPI_REQUEST_NULL));
}

/// Forgets what has.
bool failure_notices::all_has_gone_out() noexcept {
  sent_.remove_if([](letter& old) {
    int done = 0;
    MPI_Testall(static_cast<int>(old.requests.size()), old.requests.data(), &done, MPI_STATUSES_IGNORE);
    return done != 0;
  });
  return sent_.empty();
}

void failure_notices::ask(int process, notice const& question) {
  std::lock_guard const lock(mutex_);
  all_has_gone_out();
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
