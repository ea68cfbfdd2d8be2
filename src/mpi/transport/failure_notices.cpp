// SPDX-License-Identifier: Apache-2.0
#include "mpi/transport/failure_notices.hpp"

#include <algorithm>
#include <new>
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
  bool const nothing_sent = sent_to_all_ == 0 && sent_to_.empty();
  if (reduce_over_all(all_, nothing_sent ? 0 : 1, MPI_INT, MPI_MAX) == 0) return;
  all_or_none(
      all_, [&] { sent_to_.resize(static_cast<std::size_t>(all_.size())); }, "cannot end its team");
  for (int& each : sent_to_) each += sent_to_all_;
  sent_to_[static_cast<std::size_t>(all_.rank())] = 0;
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
  MPI_Isend(&l.what, sizeof l.what, MPI_BYTE, process, 0, all_.get(), &l.requests.emplace_back(MPI_REQUEST_NULL));
}

/// In `sent_`, with memory for so many requests.
failure_notices::letter& failure_notices::new_letter(notice const& what, int requests) {
  std::list<letter> made(1);
  made.front().what = what;
  made.front().requests.reserve(static_cast<std::size_t>(requests));
  sent_.splice(sent_.end(), made);
  return sent_.back();
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
  if (sent_to_.empty()) sent_to_.resize(static_cast<std::size_t>(all_.size()));
  letter& l = new_letter(question, 1);
  ++sent_to_[static_cast<std::size_t>(process)];
  send(process, l);
}

void failure_notices::send_to_all(notice const& what) {
  int const self = all_.rank(), size = all_.size();
  letter* kept = nullptr;
  try {
    kept = &new_letter(what, size - 1);
  } catch (std::bad_alloc const&) {
    // Why this one fails may be that there is no memory, and the others have to hear even so: see below.
  }
  ++sent_to_all_;
  for (int p = 0; p < size; ++p) {
    if (p == self) continue;
    if (kept != nullptr) {
      send(p, *kept);
    } else {
      MPI_Send(&what, sizeof what, MPI_BYTE, p, 0, all_.get());  // short enough for MPI to return before it is received
    }
  }
}

void failure_notices::tell(std::uint32_t round, runtime::cause why, std::string_view reason) noexcept try {
  std::lock_guard const lock(mutex_);
  bool const of_end = why == runtime::cause::messages;
  if (of_end ? told_of_end_ : told_ == round) return;
  reserve_ = {};
  told_ = round;
  told_of_end_ |= of_end;
  send_to_all(make_notice(notice::kind::failure, round, why, reason));
} catch (std::exception const&) {
  // The others will find out at their deadline.
}

void failure_notices::take_leave(std::uint32_t round) noexcept try {
  std::lock_guard const lock(mutex_);
  send_to_all(make_notice(notice::kind::farewell, round, runtime::cause::messages,
                          runtime::words("process %d has destroyed its team", all_.rank())));
} catch (std::exception const&) {
  // The others will find out when they destroy their teams.
}

}  // namespace coset::mpi
