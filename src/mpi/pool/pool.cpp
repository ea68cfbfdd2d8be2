// SPDX-License-Identifier: Apache-2.0
#include "mpi/pool/pool.hpp"

#include <algorithm>
#include <bit>
#include <utility>
#include <vector>

#include "numa/process/fork.hpp"

namespace coset::inline COSET_ABI::mpi {
namespace {

/// All pools, in the order in which they were made, until their communicators are freed. Never destroyed, as pools may
/// be closed later than static objects.
struct registry {
  std::uint32_t const process = numa::process_number();
  std::mutex mutex;
  int key = MPI_KEYVAL_INVALID;
  std::vector<std::shared_ptr<pool>> pools;
};

registry& all_pools() {
  static auto& all = *new registry;
  return all;
}

/// The communicator is being freed, and its attribute with it.
int close_pool(MPI_Comm, int, void* attribute, void*) {
  if (all_pools().process != numa::process_number()) return MPI_SUCCESS;  // a forked child's parent has it
  std::shared_ptr<pool> closing;
  {
    std::lock_guard const lock(all_pools().mutex);
    auto const is_it = [&](auto const& each) { return each.get() == attribute; };
    auto const at = std::ranges::find_if(all_pools().pools, is_it);
    if (at == all_pools().pools.end()) return MPI_SUCCESS;
    closing = std::move(*at);
    all_pools().pools.erase(at);
  }
  closing->close();
  return MPI_SUCCESS;
}

/// Of communicators. A duplicate is another communicator with a pool of its own.
int key_of_pools() {
  std::lock_guard const lock(all_pools().mutex);
  if (all_pools().key == MPI_KEYVAL_INVALID)
    require(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, close_pool, &all_pools().key, nullptr),
            "MPI_Comm_create_keyval");
  return all_pools().key;
}

/// Left to MPI, where leak checkers find them.
void keep_for_good(std::unique_ptr<connections> what) noexcept try {
  static auto& kept = *new std::pair<std::mutex, std::vector<std::unique_ptr<connections>>>;
  std::lock_guard const lock(kept.first);
  kept.second.push_back(std::move(what));
} catch (std::exception const&) {
  static_cast<void>(what.release());
}

}  // namespace

std::shared_ptr<pool> pool::of(MPI_Comm communicator_of_all, std::function<void()> const& meanwhile) {
  int const key = key_of_pools();
  void* found = nullptr;
  int is_there = 0;
  require(MPI_Comm_get_attr(communicator_of_all, key, &found, &is_there), "MPI_Comm_get_attr");
  if (is_there != 0) return static_cast<pool*>(found)->shared_from_this();
  std::shared_ptr<pool> made(new pool(communicator::duplicate_of(communicator_of_all, meanwhile)));
  {
    std::lock_guard const lock(all_pools().mutex);
    all_pools().pools.push_back(made);
  }
  require(MPI_Comm_set_attr(communicator_of_all, key, made.get()), "MPI_Comm_set_attr");
  return made;
}

void close_all_pools() noexcept {
  std::vector<std::shared_ptr<pool>> open;
  {
    std::lock_guard const lock(all_pools().mutex);
    open = all_pools().pools;
  }
  for (auto latest = open.rbegin(); latest != open.rend(); ++latest) (*latest)->close();
}

pool::pool(communicator founders) : founders_(std::move(founders)), host_(communicator::host_of(founders_.get())) {}

/// Its last team may outlive MPI: then all has been closed.
pool::~pool() = default;

record pool::meet_founders(record own, facts const& mine, std::function<void()> const& meanwhile) {
  propose(own, mine);
  try {
    return agreed_->reach(founders_, own, {}, meanwhile);
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

pool::survey const& pool::note_survey(facts const& told, process_map found) {
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
  auto made = std::make_unique<connections>();
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
  if (!fits) latest_lanes_ = std::make_shared<lanes>(founders_.get(), count, threads);
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
