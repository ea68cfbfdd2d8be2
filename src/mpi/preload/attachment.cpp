// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/attachment.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "mpi/preload/flights/flights.hpp"
#include "mpi/preload/flights/persistent.hpp"
#include "mpi/preload/makers.hpp"
#include "mpi/preload/real.hpp"
#include "mpi/preload/tally.hpp"
#include "mpi/preload/worth.hpp"

namespace coset::interpose {
namespace {

int of_communicators = MPI_KEYVAL_INVALID;

std::mutex listing;
/// Never destroyed: programs may free communicators in destructors of static objects.
auto& listed = *new std::vector<attachment*>;

/// Teams, by their numbers.
std::atomic<std::uint64_t> founded = 0;

/// Whether a process of MPI_COMM_WORLD is at MPI_THREAD_MULTIPLE.
bool world_has_threads = false;

/// Whether a team has been made over MPI_COMM_WORLD, of which all processes know.
std::atomic<bool> world_has_pool = false;

/// Handles are used again. Whoever remembers one remembers when, too.
std::atomic<std::uint64_t> ended = 0;

struct remembered {
  MPI_Comm handle = MPI_COMM_NULL;
  attachment* at = nullptr;
  std::uint64_t when = 0;
};
remembered& latest_of_thread() noexcept { return kept_in<remembered>(coset_preload_of_thread.latest_communicator); }

/// MPI_Finalize has begun: teams end together, and none is stored.
std::vector<std::unique_ptr<membership>>* ending = nullptr;

int detach(MPI_Comm, int, void* kept, void*) {
  if (is_forked_child) return MPI_SUCCESS;
  inside const layer;
  auto* const one = static_cast<attachment*>(kept);
  {
    std::lock_guard const lock(listing);
    std::erase(listed, one);
  }
  ended.fetch_add(1, std::memory_order_release);
  delete one;
  return MPI_SUCCESS;
}

/// nullptr if it has none.
void* attribute_of(MPI_Comm handle, bool& is_handle) noexcept {
  is_handle = false;
  if (handle == MPI_COMM_NULL || of_communicators == MPI_KEYVAL_INVALID) return nullptr;
  inside const layer;
  void* kept = nullptr;
  int is_there = 0;
  is_handle = PMPI_Comm_get_attr(handle, of_communicators, static_cast<void*>(&kept), &is_there) == MPI_SUCCESS;
  return is_handle && is_there != 0 ? kept : nullptr;
}

}  // namespace

/// One that a persistent request has, or had.
struct attachment::lent_attachment {
  attachment one;
  std::atomic<bool> is_free = false;
};

attachment::attachment(attachment const& like, int) noexcept
    : communicator_(like.communicator_),
      rank_(like.rank_),
      size_(like.size_),
      is_settled_(true),
      has_asked_for_store_(like.has_asked_for_store_),
      likeness_(like.likeness_),
      store_(like.store_) {}

attachment::attachment(MPI_Comm of) : communicator_(of) {
  int is_inter = 0;
  PMPI_Comm_test_inter(of, &is_inter);
  PMPI_Comm_rank(of, &rank_);
  PMPI_Comm_size(of, &size_);
  is_inter_ = is_inter != 0;
}

/// A team that does not outlive it is ended, which all processes do.
attachment::~attachment() {
  while (!others_.empty()) others_.pop_back();
  complete_all_of(*this);
  part_from(*this);
  if (!team_) return;
  if (ending != nullptr)
    ending->push_back(std::move(team_));
  else
    stored_teams::take_back(team_);
}

bool attachment::ends_a_team() const noexcept {
  auto const ends = [](attachment const& one) { return one.team_ && !stored_teams::will_take_back(*one.team_); };
  return ends(*this) || std::ranges::any_of(others_, [&](auto const& each) { return ends(each->one); });
}

attachment* attachment::of(MPI_Comm handle) noexcept {
  remembered& latest = latest_of_thread();
  if (latest.handle == handle && latest.when == ended.load(std::memory_order_acquire)) return latest.at;
  std::uint64_t const when = ended.load(std::memory_order_acquire);
  bool is_handle = false;
  void* kept = attribute_of(handle, is_handle);
  if (!is_handle) return nullptr;
  if (kept == nullptr) {
    inside const layer;
    auto* const made = new attachment(handle);
    kept = made;
    PMPI_Comm_set_attr(handle, of_communicators, kept);
    std::lock_guard const lock(listing);
    listed.push_back(made);
  }
  latest = {handle, static_cast<attachment*>(kept), when};
  return latest.at;
}

attachment* attachment::known_of(MPI_Comm handle) noexcept {
  bool is_handle = false;
  return static_cast<attachment*>(attribute_of(handle, is_handle));
}

coset_member* attachment::found(arguments const& call, form how) {
  if (me_ != nullptr || is_settled_) return me_;
  if (is_inter_) {
    be_without("an intercommunicator");
    return nullptr;
  }
  bool const is_alone = size_ == 1 && communicator_ != MPI_COMM_WORLD && communicator_ != MPI_COMM_SELF;
  if (is_alone && how != form::persistent && !is_required()) {
    why_not_ = "a communicator of one process";
    return nullptr;
  }
  missed_ += saved_by_team(*this, call) * (how == form::persistent ? starts_of_a_request : 1);
  if (how == form::nonblocking) return nullptr;
  wanted const what = reckon();
  if (what == wanted::nothing) {
    why_not_ = "too few calls to make a team for";
    return nullptr;
  }
  get_team(what == wanted::one_at_any_cost);
  return me_;
}

void attachment::be_without(char const* why) noexcept {
  is_settled_ = true;
  why_not_ = why;
}

bool attachment::is_of_one_world() {
  if (is_inter_) return false;
  if (!std::exchange(has_asked_for_store_, true)) store_ = stored_teams::of(communicator_);
  return store_ != nullptr;
}

bool attachment::is_like_world() {
  if (likeness_ >= 0) return likeness_ != 0;
  inside const layer;
  int likeness = MPI_UNEQUAL;
  PMPI_Comm_compare(communicator_, MPI_COMM_WORLD, &likeness);
  likeness_ = likeness == MPI_IDENT || likeness == MPI_CONGRUENT;
  return likeness_ != 0;
}

/// Below MPI_THREAD_MULTIPLE the processes of all communicators that have the same ones call in the same order. So what calls
/// without a team would have saved is added up over all of them, and whether some team of theirs exists is known, too.
attachment::wanted attachment::reckon() {
  bool const at_once = communicator_ == MPI_COMM_WORLD || size_ == 1 || is_required();
  if (!at_once && missed_ < std::max(reckons_next_at_, cost_of_asking)) return wanted::nothing;
  reckons_next_at_ = missed_ + std::max(missed_, cost_of_asking);
  // Processes of several MPI_COMM_WORLDs have agreed on nothing but what they have called.
  bool const knows_all = is_of_one_world();
  if (at_once) return wanted::one_at_any_cost;
  if (!knows_all || world_has_threads) return missed_ >= cost_of_the_first ? wanted::one_at_any_cost : wanted::nothing;
  std::uint64_t const cost = is_like_world() && world_has_pool ? cost_of_another : cost_of_the_first;
  store_->missed += missed_ - std::exchange(told_of_, missed_);
  if (store_->missed >= cost) return wanted::one_at_any_cost;
  return store_->have_any() ? wanted::one_there_is : wanted::nothing;
}

/// Waits until all processes are here, so that founding waits for nobody who waits for operations in flight. They agree on what
/// hinders any of them, and on a team of theirs that is free on all of them.
bool attachment::get_team(bool may_make) {
  enum : std::uint64_t { not_main = 1, has_threads = 2, has_100 = 4, has_500 = 8, has_no_place = 16 };
  int is_main = 1, level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) PMPI_Is_thread_main(&is_main);
  stored_teams::offer offered(store_);
  auto const if_true = [](bool is_true, std::uint64_t bit) { return is_true ? bit : 0; };
  std::array<std::uint64_t, 2> told{
      if_true(is_main == 0, not_main) | if_true(level == MPI_THREAD_MULTIPLE, has_threads) |
          if_true(membership::alive() >= 100, has_100) | if_true(membership::alive() >= 500, has_500) |
          if_true(stored_teams::are_many(), has_no_place),
      ~offered.places()};
  std::array<std::uint64_t, 2> any{};
  MPI_Request request = MPI_REQUEST_NULL;
  int const code = real.Iallreduce(told.data(), any.data(), 2, MPI_UINT64_T, MPI_BOR, communicator_, &request);
  if (code != MPI_SUCCESS || wait_for(request, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    be_without("its processes could not agree on a team");
    return false;
  }
  if ((any[0] & not_main) != 0) {
    be_without("a thread that is not the main one calls, below MPI_THREAD_SERIALIZED");
    return false;
  }
  if (~any[1] != 0) {
    count_team_taken_again();
    if (!world_has_threads) store_->missed -= std::min(store_->missed, told_of_);  // it misses no more
    adopt(offered.take(static_cast<std::size_t>(std::countr_one(any[1]))));
    return true;
  }
  if (!may_make) {
    why_not_ = "too few calls to make a team for";
    return false;
  }
  // Each team that is alive has a communicator, and five where it shares none; MPICH has 2,048.
  if ((any[0] & ((any[0] & has_threads) != 0 ? has_100 : has_500)) != 0) {
    be_without("too many communicators have teams");
    return false;
  }
  bool const ends_with_mpi = communicator_ == MPI_COMM_WORLD || communicator_ == MPI_COMM_SELF;
  return make_team(store_ != nullptr && !ends_with_mpi && (any[0] & has_no_place) == 0);
}

/// Once all processes are here, and agree on its number.
bool attachment::make_team(bool outlives_communicator) {
  founding_turn const turn(communicator_);
  if (!turn.is_ours()) {
    why_not_ = "another thread is making a communicator";
    return false;
  }
  std::uint64_t const latest = founded.load(std::memory_order_relaxed);
  std::uint64_t number = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  if (real.Iallreduce(&latest, &number, 1, MPI_UINT64_T, MPI_MAX, communicator_, &request) != MPI_SUCCESS ||
      wait_for(request, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    be_without("its processes could not agree on a team");
    return false;
  }
  ++number;
  for (std::uint64_t seen = founded; seen < number && !founded.compare_exchange_weak(seen, number);) {
  }
  inside const layer;
  bool const shares = is_like_world() && !world_has_threads;
  auto made = membership::founded(shares ? MPI_COMM_WORLD : communicator_, communicator_, number);
  if (!made) {
    be_without("no team could be made");
    return false;
  }
  if (shares) world_has_pool = true;
  if (store_ != nullptr) store_->missed = 0;
  if (outlives_communicator) store_->give_place_to(*made);
  adopt(std::move(made));
  return true;
}

void attachment::adopt(std::unique_ptr<membership> team) {
  is_settled_ = true;
  team_ = std::move(team);
  me_ = team_->me();
  hear_of_team(me_);
  places_ = team_->places();
}

attachment* attachment::lend_another() {
  std::uint64_t free_here = 0, free_everywhere = 0;
  constexpr std::size_t most = 64;
  for (std::size_t i = 0; i < others_.size(); ++i) free_here |= std::uint64_t{others_[i]->is_free.load()} << i;
  MPI_Request request = MPI_REQUEST_NULL;
  if (real.Iallreduce(&free_here, &free_everywhere, 1, MPI_UINT64_T, MPI_BAND, communicator_, &request) !=
          MPI_SUCCESS ||
      wait_for(request, MPI_STATUS_IGNORE) != MPI_SUCCESS)
    return nullptr;
  if (free_everywhere != 0) {
    lent_attachment& lent = *others_[static_cast<std::size_t>(std::countr_zero(free_everywhere))];
    lent.is_free = false;
    return &lent.one;
  }
  if (others_.size() == most) return nullptr;
  std::unique_ptr<lent_attachment> made(new lent_attachment{.one = attachment(*this, 0)});
  if (!made->one.get_team(true)) return nullptr;
  others_.push_back(std::move(made));
  return &others_.back()->one;
}

void attachment::give_back(attachment const* lent) noexcept {
  for (auto const& each : others_) {
    if (&each->one == lent) each->is_free = true;
  }
}

void attachment::leave_all() noexcept {
  for (auto const& each : others_) each->one.leave_all();
  complete_all_of(*this);
  me_ = nullptr;
  if (team_) team_->leave();
}

/// Codes are of a class of the layer's own, one for each text.
attachment::failure attachment::failure_of(coset_status status, std::string const& call) const {
  if (status == COSET_SUCCESS) return {};
  if (team_) team_->note_failure();
  inside const layer;
  static std::mutex adding;
  static auto& codes = *new std::map<std::string, int>;
  std::lock_guard const lock(adding);
  constexpr std::size_t most_codes = 64;  // those of MPI are never freed
  auto const cut = [](std::string words) {
    words.resize(std::min<std::size_t>(words.size(), MPI_MAX_ERROR_STRING - 1));
    return words;
  };
  std::string const message = coset_error_message();
  std::string words = cut("coset, in " + call + ": " + message);
  // A program that goes on all the same uses up the codes call by call: then its messages name no call.
  if (codes.size() >= most_codes && !codes.contains(words)) words = cut("coset: " + message);
  if (auto const at = codes.find(words); at != codes.end()) return {communicator_, at->second};
  if (codes.size() >= 2 * most_codes) return {communicator_, MPI_ERR_OTHER};
  static int const own_class = [] {
    int made = MPI_ERR_OTHER;
    PMPI_Add_error_class(&made);
    PMPI_Add_error_string(made, "coset: a collective failed");
    return made;
  }();
  int code = MPI_ERR_OTHER;
  if (PMPI_Add_error_code(own_class, &code) == MPI_SUCCESS) PMPI_Add_error_string(code, words.c_str());
  codes.emplace(std::move(words), code);
  return {communicator_, code};
}

int attachment::call_handler(failure const& what) {
  if (what.code != MPI_SUCCESS) PMPI_Comm_call_errhandler(what.on, what.code);
  return what.code;
}

void begin_attachments() {
  if (of_communicators == MPI_KEYVAL_INVALID)
    PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, detach, &of_communicators, nullptr);
  std::array<int, 2> own{MPI_THREAD_SINGLE, is_required() ? 1 : 0}, most{};
  PMPI_Query_thread(own.data());
  PMPI_Allreduce(own.data(), most.data(), 2, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  world_has_threads = most[0] == MPI_THREAD_MULTIPLE;
  if (most[1] != 0) require_all();
}

/// All leave their teams first: a team can be ended while a process is still in another one. Then the latest goes first;
/// processes that share several teams know the same order of them.
void end_attachments() noexcept {
  if (of_communicators == MPI_KEYVAL_INVALID) return;
  std::vector<attachment*> left;
  {
    std::lock_guard const lock(listing);
    left = listed;
  }
  std::vector<std::unique_ptr<membership>> teams = stored_teams::take_all();
  for (attachment* each : left) each->leave_all();
  for (auto const& each : teams) each->leave();
  ending = &teams;
  for (attachment const* each : left) PMPI_Comm_delete_attr(each->communicator(), of_communicators);
  ending = nullptr;
  std::ranges::sort(teams, std::ranges::greater(), &membership::number);
  for (auto& each : teams) each.reset();
  PMPI_Comm_free_keyval(&of_communicators);
}

}  // namespace coset::interpose
