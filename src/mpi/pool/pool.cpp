// SPDX-License-Identifier: Apache-2.0
#include "mpi/pool/pool.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <new>
#include <utility>
#include <vector>

#include "numa/process/fork.hpp"

namespace coset::inline COSET_ABI::mpi {

/// All pools, until their communicators are freed. Never destroyed, as pools may be closed later than static objects; and
/// not on the heap, as the first pool is sought before the processes could agree on who has memory.
class pool::registry {
 public:
  static registry& of_all() {
    alignas(registry) static std::byte room[sizeof(registry)];
    static auto& all = *new (room) registry;
    return all;
  }

  /// Of the attribute by which communicators have pools. A duplicate is another communicator with a pool of its own.
  int key() {
    std::lock_guard const lock(mutex_);
    if (key_ == MPI_KEYVAL_INVALID)
      require(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_pool, &key_, nullptr), "MPI_Comm_create_keyval");
    return key_;
  }

  void enter(std::shared_ptr<pool> const& made) noexcept {
    std::lock_guard const lock(mutex_);
    made->earlier_ = std::exchange(latest_, made);
  }

  /// Empty if it is not here.
  std::shared_ptr<pool> remove(void const* which) noexcept {
    std::lock_guard const lock(mutex_);
    for (auto* at = &latest_; *at != nullptr; at = &(*at)->earlier_) {
      if (at->get() != which) continue;
      auto const removed = *at;
      *at = std::move(removed->earlier_);
      return removed;
    }
    return {};
  }

  /// In the order in which scopes end.
  void close_all() noexcept {
    for (auto each = latest(); each != nullptr; each = before(*each)) each->close();
  }

 private:
  /// The communicator is being freed, and its attribute with it.
  static int close_pool(MPI_Comm, int, void* attribute, void*) {
    registry& all = of_all();
    if (all.process_ != numa::process_number()) return MPI_SUCCESS;  // a forked child's parent has it
    if (auto const closing = all.remove(attribute)) closing->close();
    return MPI_SUCCESS;
  }

  std::shared_ptr<pool> latest() noexcept {
    std::lock_guard const lock(mutex_);
    return latest_;
  }
  std::shared_ptr<pool> before(pool const& one) noexcept {
    std::lock_guard const lock(mutex_);
    return one.earlier_;
  }

  std::uint32_t const process_ = numa::process_number();
  std::mutex mutex_;
  int key_ = MPI_KEYVAL_INVALID;
  std::shared_ptr<pool> latest_;
};

namespace {

constexpr char const* cannot_connect = "cannot make its connections";

/// Left to MPI, where leak checkers find them.
void keep_for_good(std::unique_ptr<connections> what) noexcept try {
  static auto& kept = *new std::pair<std::mutex, std::vector<std::unique_ptr<connections>>>;
  std::lock_guard const lock(kept.first);
  kept.second.push_back(std::move(what));
} catch (std::exception const&) {
  static_cast<void>(what.release());
}

}  // namespace

std::shared_ptr<pool> pool::of(MPI_Comm of_all, std::function<void()> const& meanwhile) {
  registry& all = registry::of_all();
  int const key = all.key();
  void* found = nullptr;
  int is_there = 0;
  require(MPI_Comm_get_attr(of_all, key, &found, &is_there), "MPI_Comm_get_attr");
  if (is_there != 0) return static_cast<pool*>(found)->shared_from_this();
  communicator founders = communicator::duplicate_of(of_all, meanwhile);
  std::shared_ptr<pool> made;
  all_or_none(
      founders, [&] { made.reset(new pool); }, cannot_connect);
  made->serve(std::move(founders));
  all.enter(made);
  require(MPI_Comm_set_attr(of_all, key, made.get()), "MPI_Comm_set_attr");
  return made;
}

void close_all_pools() noexcept { pool::registry::of_all().close_all(); }

void pool::serve(communicator founders) {
  founders_ = std::move(founders);
  host_ = communicator::host_of(founders_.get());
}

/// Its last team may outlive MPI: then all has been closed.
pool::~pool() = default;

record pool::meet_founders(record own, facts const& mine, std::function<void()> const& meanwhile) {
  propose(own, mine);
  // The room may be here: without a deadline nothing gives the exchange up.
  exchange<record> room{own, own};
  try {
    return agreed_->reach(founders_, room, own, {}, meanwhile);
  } catch (std::exception const&) {
    misses_a_process_ = true;
    throw;
  }
}

void pool::propose(record& own, facts const& mine) const noexcept {
  for (std::uint32_t s = 0; s < kept_surveys; ++s)
    own.from_pool.surveys |= std::uint64_t{surveys_[s] && surveys_[s]->told == mine} << s;
  std::lock_guard const lock(keeping_);
  own.from_pool.vacant = vacant_;
  for (std::uint32_t p = 0; p < places; ++p) own.from_pool.kept |= std::uint64_t{kept_[p] != nullptr} << p;
}

pool::survey const* pool::survey_of(record const& agreed) const noexcept {
  return agreed.from_pool.surveys == 0
             ? nullptr
             : &*surveys_[static_cast<std::size_t>(std::countr_zero(agreed.from_pool.surveys))];
}

pool::survey const& pool::note_survey(facts const& told, process_map found) noexcept {
  auto& place = surveys_[surveys_made_ % kept_surveys];
  place = survey{told, std::move(found), ++surveys_made_};
  return *place;
}

/// The same on all processes, as connections serve all of them.
std::uint32_t pool::place_for(std::uint64_t kept, survey const& of) const noexcept {
  for (std::uint64_t left = kept; left != 0; left &= left - 1) {
    auto const place = static_cast<std::uint32_t>(std::countr_zero(left));
    if (kept_[place]->survey == of.number) return place;
  }
  return static_cast<std::uint32_t>(std::countr_zero(kept));
}

/// Teams that find no place have connections of their own, which end with them.
lease pool::take(record const& agreed, survey const& of) {
  if (agreed.from_pool.kept != 0) {
    std::lock_guard const lock(keeping_);
    std::uint32_t const place = place_for(agreed.from_pool.kept, of);
    return {shared_from_this(), place, std::move(kept_[place])};
  }
  std::uint32_t const place = std::min(static_cast<std::uint32_t>(std::countr_zero(agreed.from_pool.vacant)), places);
  std::unique_ptr<connections> made;
  all_or_none(
      founders_, [&] { made = std::make_unique<connections>(); }, cannot_connect);
  made->all = communicator::duplicate_of(founders_.get());
  made->agreed = agreed_;
  if (place != places) {
    std::lock_guard const lock(keeping_);
    vacant_ &= ~(std::uint64_t{1} << place);
  }
  return {shared_from_this(), place, std::move(made)};
}

seat pool::seat_among(rank_t count, rank_t threads) {
  bool const fits = latest_lanes_ && latest_lanes_->serve(count, threads) && latest_lanes_->has_seats();
  if (!fits) {
    std::shared_ptr<lanes> made;
    all_or_none(
        founders_, [&] { made = std::make_shared<lanes>(count, threads); }, cannot_connect);
    made->open(founders_.get());
    latest_lanes_ = std::move(made);
  }
  return {latest_lanes_, latest_lanes_->take_seat()};
}

void pool::vacate(std::uint32_t place) noexcept {
  std::lock_guard const lock(keeping_);
  if (place != places) vacant_ |= std::uint64_t{1} << place;
}

/// What nobody will ask for is freed, outside the lock.
void pool::give_back(std::uint32_t place, std::unique_ptr<connections> what) noexcept {
  std::lock_guard const lock(keeping_);
  if (!closed_ && place != places) kept_[place] = std::move(what);
}

/// Nothing of that waits for other processes, in any MPI that is known: the caller's own communicator may be freed as
/// loosely.
void pool::close() noexcept {
  std::array<std::unique_ptr<connections>, places> all;
  {
    std::lock_guard const lock(keeping_);
    if (std::exchange(closed_, true)) return;
    all.swap(kept_);
  }
  if (misses_a_process_) {
    for (auto& each : all) {
      if (each) keep_for_good(std::move(each));
    }
    auto in_use = std::make_unique<connections>();  // by teams that are alive
    in_use->lanes.of = latest_lanes_;
    keep_for_good(std::move(in_use));
    founders_.let_go();
    host_.let_go();
  }
  for (auto& each : all) each.reset();
  latest_lanes_.reset();
  agreed_.reset();
  host_ = {};
  founders_ = {};
}

lease::lease(std::shared_ptr<pool> from, std::uint32_t place, std::unique_ptr<connections> what) noexcept
    : from_(std::move(from)), place_(place), owned_(std::move(what)), used_(owned_.get()) {}

lease& lease::operator=(lease&& other) noexcept {
  give_back();
  from_ = std::move(other.from_);
  place_ = other.place_;
  owned_ = std::move(other.owned_);
  used_ = std::exchange(other.used_, nullptr);
  return *this;
}

void lease::give_back() noexcept {
  used_ = nullptr;
  if (owned_) from_->give_back(place_, std::move(owned_));
  from_.reset();
}

void lease::leave_to_mpi(bool misses_a_process) noexcept {
  if (misses_a_process && from_) from_->misses_a_process_ = true;
  if (!owned_) return;
  from_->vacate(place_);
  keep_for_good(std::move(owned_));
}

}  // namespace coset::mpi
