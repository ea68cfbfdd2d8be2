// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/flights/flights.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

#include "bindings/c/handles.hpp"
#include "bindings/c/status.hpp"
#include "mpi/preload/flights/parts.hpp"
#include "mpi/preload/flights/persistent.hpp"
#include "mpi/preload/flights/self.hpp"
#include "mpi/preload/flights/within_mpi.hpp"
#include "runtime/memory/waiting.hpp"

namespace coset::interpose {

/// What remains to be done when all parts of an operation are complete.
struct landing {
  prepared whole;
  int tag;
  bool keeps_tag;
  std::size_t parts = 0;  ///< that have not landed
  coset_status status = COSET_SUCCESS;
};

/// An operation in flight. Its team carries out as many of a communicator at once as members may have; the others wait
/// for their turn here.
struct operation {
  part what;
  std::shared_ptr<landing> end;
  bool tells_counts = false;  ///< the parts that it is about come after it, before all others
  coset_request under_way = {};
  bool has_begun = false;
  coset_status status = COSET_SUCCESS;
};

namespace {

/// What follows is guarded by `using_`. Recursive, as an operation of the program's own may call MPI, and as what is
/// called here may wait and look here again: `is_at_work` then says that there is nothing to do. Never destroyed, as
/// programs may call MPI in destructors of static objects.
std::recursive_mutex using_;
bool is_at_work = false;
auto& all = *new std::list<operation>;
auto& failures = *new std::vector<attachment::failure>;
struct deferred {
  std::function<bool()> is_used;
  std::function<void()> call;
};
auto& after_landing = *new std::vector<deferred>;

brought_on by_mpi = brought_on::nowhere;
/// Who yields gives away a whole slice of the system's time where others want the processor, some milliseconds. So nobody shall who
/// waits for a rank that runs.
constexpr int looks_before_yielding = 400;
/// MPICH's waits never yield. Where each rank has a processor, what polls in their place yields only after about a slice.
constexpr int looks_in_place_of_spins = 40'000;
std::atomic<bool> ranks_take_turns = false;
/// Since an operation began or ended.
std::atomic<int> looks_in_vain = 0;

bool has_threads = false;

class at_work {
 public:
  at_work() { is_at_work = true; }
  ~at_work() { is_at_work = false; }
  at_work(at_work const&) = delete;
  at_work& operator=(at_work const&) = delete;

 private:
  inside const layer_;
};

/// Whether the latest that has begun is one whose parts are not known yet.
bool is_being_told(attachment const& of) {
  return of.flights.begun != 0 && of.flights.all[of.flights.begun - 1]->tells_counts;
}

/// Teams number operations, so they begin in the order of their calls.
void begin_more(attachment& of) {
  while (of.flights.begun < of.flights.all.size() && !is_being_told(of)) {
    operation& next = *of.flights.all[of.flights.begun];
    bool const is_empty = next.end->whole.is_empty;
    // What a failed team had under way keeps its places: whatever comes after hears of the failure by any call.
    bool const has_failed = capi::has_failed(of.me());
    if (!is_empty && !has_failed && !capi::may_start(of.me())) return;
    if (!is_empty) fill_input(next.what, next.end->whole);
    next.status = is_empty     ? COSET_SUCCESS
                  : has_failed ? coset_barrier(of.me())
                               : next.what.call.start(&next.under_way);
    next.has_begun = true;
    ++of.flights.begun;
  }
}

/// Puts the parts of an operation before `place` of those of its communicator that have not begun.
void line_up(attachment& of, std::shared_ptr<landing> const& end, std::size_t place) {
  bool const tells = end->whole.tells_counts && !end->whole.is_empty;
  for (part& each : parts_of(end->whole)) {
    ++end->parts;
    auto const at = of.flights.all.begin() + static_cast<std::ptrdiff_t>(place++);
    of.flights.all.insert(at, &all.emplace_back(operation{.what = std::move(each), .end = end, .tells_counts = tells}));
  }
}

bool is_complete(operation& one) {
  if (!one.has_begun) return false;
  if (one.status != COSET_SUCCESS || one.end->whole.is_empty) return true;
  bool complete = false;
  one.status = coset_request_test(&one.under_way, &complete);
  return complete || one.status != COSET_SUCCESS;
}

/// The last part completes the request. An error is reported when it is found, as the request has no room for it.
void land(std::list<operation>::iterator at) {
  attachment& of = *at->what.call.of;
  std::shared_ptr<landing> const end = at->end;
  looks_in_vain.store(0, std::memory_order_relaxed);
  bool const has_told = at->tells_counts && at->status == COSET_SUCCESS;
  if (at->status == COSET_SUCCESS) put_output(at->what, end->whole);
  if (at->status != COSET_SUCCESS && end->status == COSET_SUCCESS) {
    end->status = at->status;
    failures.push_back(of.failure_of(at->status, end->whole.by_program.in_words()));
  }
  std::erase(of.flights.all, &*at);
  --of.flights.begun;
  all.erase(at);
  if (has_told) {
    end->whole.hear();
    line_up(of, end, of.flights.begun);
  }
  if (--end->parts == 0) {
    try {
      if (end->status == COSET_SUCCESS && end->whole.finish) end->whole.finish();
    } catch (std::exception const&) {  // there is no memory
      failures.push_back({of.communicator(), MPI_ERR_NO_MEM});
    }
    PMPI_Send(nullptr, 0, MPI_BYTE, 0, end->tag, self());
    if (!end->keeps_tag) give_back_tag(end->tag);
    in_flight.fetch_sub(1, std::memory_order_relaxed);
  }
  begin_more(of);
}

void let_go() {
  auto const unused = std::stable_partition(after_landing.begin(), after_landing.end(),
                                            [](deferred const& one) { return one.is_used(); });
  std::vector<deferred> const now(unused, after_landing.end());
  after_landing.erase(unused, after_landing.end());
  for (auto const& each : now) each.call();
}

/// A thread within a blocking call of a communicator brings that communicator's operations on by itself.
void progress_all() {
  std::thread::id const self = std::this_thread::get_id();
  for (auto at = all.begin(); at != all.end();) {
    auto const next = std::next(at);
    std::thread::id const user = at->what.call.of->flights.user;
    if ((user == std::thread::id() || user == self) && is_complete(*at)) land(at);
    at = next;
  }
  if (all.empty() && !after_landing.empty()) let_go();
}

/// The program's error handlers may do what they like, so nothing is held meanwhile.
void report(std::vector<attachment::failure> const& found) {
  for (auto const& each : found) attachment::call_handler(each);
}

/// Whoever is at work makes progress, too.
template <class Do>
void at_work_unless_others_are(Do const& what) {
  std::vector<attachment::failure> found;
  {
    std::unique_lock const lock(using_, std::try_to_lock);
    if (!lock.owns_lock() || is_at_work) return;
    at_work const now;
    what();
    found.swap(failures);
  }
  report(found);
}

bool look_meanwhile() noexcept {
  if (none_in_flight()) return false;
  at_work_unless_others_are(progress_all);
  return true;
}

/// Says how many events there were: with mpi_yield_when_idle, Open MPI yields where there were none. Not in MPI's calls within the
/// layer: a team that sends is at work on its operations already.
int look_within_mpi() {
  if (passes_through() || !look_meanwhile()) return 0;
  return looks_in_vain.fetch_add(1, std::memory_order_relaxed) < looks_before_yielding ? 1 : 0;
}

/// What is in flight is the parent's to bring on. A child that initialises MPI by itself is no such child.
void begin_as_child() {
  int is_initialized = 0;
  PMPI_Initialized(&is_initialized);
  if (is_initialized == 0) return;
  is_forked_child = true;
  in_flight.store(0, std::memory_order_relaxed);
  runtime::meanwhile.store(nullptr, std::memory_order_relaxed);
}

[[gnu::constructor]] void watch_forks() { pthread_atfork(nullptr, nullptr, begin_as_child); }

}  // namespace

void progress() {
  if (!passes_through()) at_work_unless_others_are(progress_all);
}

void patience::look() noexcept {
  bool const spins = !ranks_take_turns.load(std::memory_order_relaxed);
  if (++looks_ > (spins ? looks_in_place_of_spins : looks_before_yielding)) sched_yield();
}

int wait_for(MPI_Request request, MPI_Status* status) {
  int complete = 0;
  for (patience between;; between.look()) {
    if (!none_in_flight()) progress();
    int const code = real.Test(&request, &complete, status);
    if (code != MPI_SUCCESS || complete != 0) return code;
  }
}

void begin_flights() {
  runtime::ranks_sleep_unyielding.store(true, std::memory_order_relaxed);
  int level = MPI_THREAD_SINGLE;
  PMPI_Query_thread(&level);
  has_threads = level == MPI_THREAD_MULTIPLE;
  runtime::meanwhile.store(look_meanwhile, std::memory_order_release);
  by_mpi = have_mpi_call(look_within_mpi);
}

void end_flights() noexcept {
  runtime::meanwhile.store(nullptr, std::memory_order_release);
  if (by_mpi != brought_on::nowhere) let_mpi_forget(look_within_mpi);
  by_mpi = brought_on::nowhere;
}

void hear_of_team(coset_member* me) {
  if (capi::takes_turns(me)) ranks_take_turns.store(true, std::memory_order_relaxed);
}

bool is_multithreaded() noexcept { return has_threads; }

within_mpi alone() noexcept {
  if (passes_through() || by_mpi == brought_on::everywhere || (none_in_flight() && !has_threads))
    return within_mpi::goes_on;
  return within_mpi::polls;
}

/// What has been agreed on holds for MPI_COMM_WORLD's processes.
within_mpi together(MPI_Comm comm) noexcept {
  if (passes_through() || by_mpi == brought_on::everywhere) return within_mpi::goes_on;
  if (by_mpi == brought_on::nowhere) return within_mpi::polls;
  attachment* const of = attachment::of(comm);
  return of != nullptr && of->is_of_one_world() ? within_mpi::goes_on : within_mpi::polls;
}

int meet_before(MPI_Comm comm) {
  if (together(comm) == within_mpi::goes_on || comm == MPI_COMM_NULL) return MPI_SUCCESS;
  MPI_Request request = MPI_REQUEST_NULL;
  int const code = real.Ibarrier(comm, &request);
  return code == MPI_SUCCESS ? wait_for(request, MPI_STATUS_IGNORE) : code;
}

/// Those that the program began before have to begin before.
int run(prepared&& call) {
  if (call.is_empty) return MPI_SUCCESS;
  attachment& of = *call.of;
  bool const beside_others = !none_in_flight();
  if (beside_others) {
    for (patience between;; between.look()) {
      progress();
      std::lock_guard const lock(using_);
      if (of.flights.begun < of.flights.all.size() || is_being_told(of)) continue;
      of.flights.user = std::this_thread::get_id();
      break;
    }
  }
  attachment::failure failed;
  {
    inside const layer;
    coset_status status = COSET_SUCCESS;
    if (call.tells_counts) {
      status = call.telling().run();
      call.hear();
    }
    if (status == COSET_SUCCESS) status = call.disagrees ? call.as_expected().run() : call.run();
    if (status != COSET_SUCCESS) failed = of.failure_of(status, call.by_program.in_words());
    if (beside_others) {
      std::lock_guard const lock(using_);
      of.flights.user = {};
    }
    if (status == COSET_SUCCESS && call.finish) call.finish();
  }
  return attachment::call_handler(failed);
}

int run_again(attachment& of, arguments const& c) {
  attachment::failure failed;
  {
    inside const layer;
    coset_status const status = capi::guarded([&] { capi::run(of.me(), of.last.made()); });
    if (status == COSET_SUCCESS) [[likely]]
      return MPI_SUCCESS;
    failed = of.failure_of(status, described(of, c, form::blocking).in_words());
  }
  return attachment::call_handler(failed);
}

void take_off(prepared&& call, int tag, bool keeps_tag) {
  std::vector<attachment::failure> found;
  {
    std::lock_guard const lock(using_);
    at_work const now;
    attachment& of = *call.of;
    auto const end = std::make_shared<landing>(landing{std::move(call), tag, keeps_tag});
    in_flight.fetch_add(1, std::memory_order_relaxed);
    looks_in_vain.store(0, std::memory_order_relaxed);
    line_up(of, end, of.flights.all.size());
    begin_more(of);
    progress_all();
    found.swap(failures);
  }
  report(found);
}

int launch(prepared&& call, MPI_Request* request) {
  int const tag = take_tag();
  {
    inside const layer;
    int const code = PMPI_Irecv(nullptr, 0, MPI_BYTE, 0, tag, self(), request);
    if (code != MPI_SUCCESS) return code;
  }
  take_off(std::move(call), tag, false);
  return MPI_SUCCESS;
}

void complete_all_of(attachment& of) noexcept {
  for (patience between;; between.look()) {
    {
      std::lock_guard const lock(using_);
      if (of.flights.all.empty()) return;
    }
    look_meanwhile();
  }
}

bool is_put_off(std::function<bool()> is_used, std::function<void()> call) {
  std::lock_guard const lock(using_);
  if (all.empty() && !is_used()) return false;
  after_landing.push_back({std::move(is_used), std::move(call)});
  return true;
}

void look_whether_unused() {
  at_work_unless_others_are([] {
    if (all.empty()) let_go();
  });
}

}  // namespace coset::interpose
