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

namespace coset::interpose {
namespace {

int of_communicators = MPI_KEYVAL_INVALID;

std::mutex listing;
/// Never destroyed: programs may free communicators in destructors of static objects.
auto& listed = *new std::vector<attachment*>;

std::atomic<std::uint64_t> founded = 0, teams_alive = 0;

/// Whether a process of MPI_COMM_WORLD is at MPI_THREAD_MULTIPLE.
bool world_has_threads = false;

/// Handles are used again. Whoever remembers one remembers when, too.
std::atomic<std::uint64_t> ended = 0;

struct remembered {
  MPI_Comm handle = MPI_COMM_NULL;
  attachment* at = nullptr;
  std::uint64_t when = 0;
};
remembered& latest_of_thread() noexcept { return kept_in<remembered>(coset_preload_of_thread.latest_communicator); }

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
      tried_(true),
      is_like_world_(like.is_like_world_) {}

attachment::attachment(MPI_Comm of) : communicator_(of) {
  int is_inter = 0;
  PMPI_Comm_test_inter(of, &is_inter);
  PMPI_Comm_rank(of, &rank_);
  PMPI_Comm_size(of, &size_);
  is_inter_ = is_inter != 0;
  int likeness = MPI_UNEQUAL;
  if (!is_inter_) PMPI_Comm_compare(of, MPI_COMM_WORLD, &likeness);
  is_like_world_ = likeness == MPI_IDENT || likeness == MPI_CONGRUENT;
}

attachment::~attachment() {
  while (!others_.empty()) others_.pop_back();
  complete_all_of(*this);
  part_from(*this);
  if (me_ != nullptr) coset_team_leave(me_);
  if (team_ != nullptr) teams_alive.fetch_sub(1, std::memory_order_relaxed);
  coset_mpi_team_free(team_);
  coset_team_free(threads_);
}

attachment* attachment::of(MPI_Comm handle) noexcept {
  remembered& latest = latest_of_thread();
  if (latest.handle == handle && latest.when == ended.load(std::memory_order_acquire)) return latest.at;
  if (handle == MPI_COMM_NULL || of_communicators == MPI_KEYVAL_INVALID) return nullptr;
  inside const layer;
  std::uint64_t const when = ended.load(std::memory_order_acquire);
  void* kept = nullptr;
  int is_there = 0;
  if (PMPI_Comm_get_attr(handle, of_communicators, static_cast<void*>(&kept), &is_there) != MPI_SUCCESS) return nullptr;
  if (is_there == 0) {
    auto* const made = new attachment(handle);
    kept = made;
    PMPI_Comm_set_attr(handle, of_communicators, kept);
    std::lock_guard const lock(listing);
    listed.push_back(made);
  }
  latest = {handle, static_cast<attachment*>(kept), when};
  return latest.at;
}

/// A communicator that lives for a few calls only costs less without a team. One with the processes of MPI_COMM_WORLD
/// takes what that has, so its team is cheap; not among threads, which may found teams in different orders: there each
/// communicator has its own.
coset_member* attachment::found() {
  if (me_ != nullptr || tried_) return me_;
  constexpr int calls_without_team = 8;
  if (is_inter_) {
    tried_ = true;
    why_not_ = "an intercommunicator";
    return nullptr;
  }
  bool const lives_long = communicator_ == MPI_COMM_WORLD || communicator_ == MPI_COMM_SELF;
  bool const is_cheap = !world_has_threads && (is_like_world_ || size_ == 1);
  if (!lives_long && !is_cheap && ++calls_before_ <= calls_without_team && !is_required()) {
    why_not_ = "too few calls to make a team for";
    return nullptr;
  }
  tried_ = true;
  if (!agree_on_founding()) return nullptr;
  founding_turn const turn(communicator_);
  if (!turn.is_ours()) {
    tried_ = false;
    calls_before_ = 0;
    why_not_ = "another thread is making a communicator";
    return nullptr;
  }
  inside const layer;
  if (!found_over(is_like_world_ && !world_has_threads ? MPI_COMM_WORLD : communicator_)) return nullptr;
  learn_places();
  return me_;
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
  if (!made->one.agree_on_founding()) return nullptr;
  founding_turn const turn(communicator_);
  inside const layer;
  if (!turn.is_ours() || !made->one.found_over(is_like_world_ && !world_has_threads ? MPI_COMM_WORLD : communicator_))
    return nullptr;
  made->one.place_of_ = place_of_;
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
  if (me_ != nullptr) coset_team_leave(std::exchange(me_, nullptr));
}

/// Waits until all processes are here, so that founding waits for nobody who waits for operations in flight. Whether all
/// of them can found a team is agreed, and its number.
bool attachment::agree_on_founding() {
  int is_main = 1, level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  if (level < MPI_THREAD_SERIALIZED) PMPI_Is_thread_main(&is_main);
  std::array<std::uint64_t, 4> told{is_main == 0, teams_alive.load(std::memory_order_relaxed),
                                    founded.load(std::memory_order_relaxed), level == MPI_THREAD_MULTIPLE};
  std::array<std::uint64_t, 4> most{};
  MPI_Request request = MPI_REQUEST_NULL;
  int const code = real.Iallreduce(told.data(), most.data(), 4, MPI_UINT64_T, MPI_MAX, communicator_, &request);
  if (code != MPI_SUCCESS || wait_for(request, MPI_STATUS_IGNORE) != MPI_SUCCESS) {
    why_not_ = "its processes could not agree on a team";
    return false;
  }
  // Each team that is alive has a communicator, and five where it shares none; MPICH has 2,048.
  std::uint64_t const most_teams = most[3] != 0 ? 100 : 500;
  if (most[0] != 0) why_not_ = "a thread that is not the main one calls, below MPI_THREAD_SERIALIZED";
  if (most[1] >= most_teams) why_not_ = "too many communicators have teams";
  if (most[0] != 0 || most[1] >= most_teams) return false;
  number_ = most[2] + 1;
  for (std::uint64_t seen = founded; seen < number_ && !founded.compare_exchange_weak(seen, number_);) {
  }
  return true;
}

/// Creating fails on all processes alike.
bool attachment::found_over(MPI_Comm pooled) {
  why_not_ = "no team could be made";
  coset_mpi_options const options = COSET_MPI_OPTIONS;
  bool const is_made = coset_team_adopt(1, nullptr, &threads_) == COSET_SUCCESS &&
                       coset_mpi_team_create(pooled, threads_, &options, &team_) == COSET_SUCCESS;
  if (is_made) teams_alive.fetch_add(1, std::memory_order_relaxed);
  if (!is_made || coset_mpi_team_join(team_, 0, &me_) != COSET_SUCCESS) {
    log_once(coset_error_message());
    me_ = nullptr;
  }
  if (me_ != nullptr) hear_of_team(me_);
  return me_ != nullptr;
}

void attachment::learn_places() {
  std::uint32_t const own = coset_mpi_team_first(team_);
  std::vector<std::uint32_t> all(static_cast<std::size_t>(size_));
  real.Allgather(&own, 1, MPI_UINT32_T, all.data(), 1, MPI_UINT32_T, communicator_);
  if (!std::ranges::is_sorted(all)) place_of_ = std::move(all);
}

/// Codes are of a class of the layer's own, one for each text.
attachment::failure attachment::failure_of(coset_status status, std::string const& call) const {
  if (status == COSET_SUCCESS) return {};
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
  int level = MPI_THREAD_SINGLE, highest = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  PMPI_Allreduce(&level, &highest, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
  world_has_threads = highest == MPI_THREAD_MULTIPLE;
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
  std::ranges::stable_sort(left, std::ranges::greater(), &attachment::number_);
  for (attachment* each : left) each->leave_all();
  for (attachment const* each : left) PMPI_Comm_delete_attr(each->communicator(), of_communicators);
  PMPI_Comm_free_keyval(&of_communicators);
}

}  // namespace coset::interpose
