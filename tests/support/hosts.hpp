// SPDX-License-Identifier: Apache-2.0
// Several hosts in one process: teams of threads that reach each other by messages only.
#pragma once

#include <sys/mman.h>

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <thread>
#include <tuple>

#include "runtime/transport/offload.hpp"
#include "support/teams.hpp"
#include "team/domain_team.hpp"

namespace coset::team_test {

/// Carries messages as MPI does those that are too long to be buffered: out of the sender's memory, when the receiver
/// takes them, and no sooner may the sender go on. So whatever is reused too early goes wrong, or is seen as a race.
class simulated_network {
 public:
  struct message {
    runtime::envelope opening;
    std::vector<runtime::piece> from;
    std::shared_ptr<std::atomic<bool>> taken = std::make_shared<std::atomic<bool>>(false);
  };
  using way = std::tuple<rank_t, rank_t, std::uint32_t, std::uint32_t>;  ///< sender, receiver, channel, part

  void send(way const& along, message what) {
    std::lock_guard const lock(mutex_);
    for (runtime::piece const& p : what.from) bytes_ += p.bytes;
    under_way_[along].push_back(std::move(what));
    ++sent_;
  }
  /// Copies the next message's pieces into `to` one after the other; false if there is none.
  bool take(way const& along, std::vector<runtime::piece> const& to, runtime::envelope& opening) {
    std::lock_guard const lock(mutex_);
    auto& messages = under_way_[along];
    if (messages.empty()) return false;
    opening = messages.front().opening;
    deliver(messages.front().from, to);
    messages.front().taken->store(true, std::memory_order_release);
    messages.pop_front();
    return true;
  }

  /// Where the combiners of a slice meet. What they bring is folded where it lies, by the last that comes.
  struct meeting {
    runtime::offloaded_items items;
    std::size_t count;
    std::vector<std::byte*> rooms;  ///< [domain]
    std::size_t missing;
    std::vector<std::byte> result = {};
    std::atomic<bool> over = false;
  };

  std::shared_ptr<meeting> offload(rank_t self, std::uint32_t slice, std::uint32_t channel, std::byte* room,
                                   runtime::offloaded_items const& items, std::size_t count) {
    std::lock_guard const lock(mutex_);
    auto const& members = combiners.at(slice);
    auto& next = meetings_[{slice, channel}];
    if (!next) next.reset(new meeting{items, count, std::vector<std::byte*>(members.size()), members.size()});
    auto const domain = static_cast<std::size_t>(std::ranges::find(members, self) - members.begin());
    EXPECT_TRUE(next->items.reduction == items.reduction && next->items.what == items.what &&
                next->items.mode == items.mode && next->count == count)
        << "what the hosts combine is not the same";
    EXPECT_EQ(std::exchange(next->rooms.at(domain), room), nullptr) << "a host combines twice";
    auto const mine = next;
    if (--mine->missing == 0) {
      fold(*mine);
      ++offloaded_;
      next.reset();
    }
    return mine;
  }
  std::size_t offloaded() const { return offloaded_; }
  std::vector<std::vector<rank_t>> combiners;

  void clear() {
    std::lock_guard const lock(mutex_);
    under_way_.clear();
    meetings_.clear();
  }
  std::size_t sent() const { return sent_; }
  std::size_t bytes() const { return bytes_; }

  /// What one host tells the others when it fails.
  void tell(runtime::cause why, std::string const& reason) {
    std::lock_guard const lock(mutex_);
    if (!failure_) failure_ = {why, reason};
    failed_ = true;
  }
  bool failed() const { return failed_; }
  std::pair<runtime::cause, std::string> failure() const {
    std::lock_guard const lock(mutex_);
    return *failure_;
  }
  void forgive() {
    failed_ = false;
    failure_.reset();
  }

 private:
  static void fold(meeting& m) {
    std::size_t const bytes = m.count * (m.items.what == detail::form::partial ? m.items.reduction->partial_bytes
                                                                               : m.items.reduction->element_bytes);
    m.result.assign(m.rooms.back(), m.rooms.back() + bytes);
    for (std::size_t d = m.rooms.size() - 1; d > 0; --d)
      runtime::fold_onto(m.items, m.rooms[d - 1], m.result.data(), m.count);
    m.over.store(true, std::memory_order_release);
  }

  /// As much as fits: a message of another operation may be of any length.
  static void deliver(std::vector<runtime::piece> const& from, std::vector<runtime::piece> const& to) {
    std::vector<std::byte> bytes;
    for (auto const& p : from) bytes.insert(bytes.end(), p.data, p.data + p.bytes);
    std::size_t done = 0;
    for (auto const& p : to) {
      std::size_t const length = std::min(p.bytes, bytes.size() - done);
      std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(done), length, p.data);
      done += length;
    }
  }

  mutable std::mutex mutex_;
  std::map<way, std::deque<message>> under_way_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::shared_ptr<meeting>> meetings_;  ///< [slice, channel]
  std::optional<std::pair<runtime::cause, std::string>> failure_;
  std::atomic<bool> failed_ = false;
  std::atomic<std::size_t> sent_ = 0, bytes_ = 0, offloaded_ = 0;
};

/// In which part of the team messages are; in none, with number 0 and the team's own numbers.
struct test_part {
  std::uint32_t number = 0;
  std::vector<rank_t> in_whole = {};

  rank_t whole(rank_t rank) const { return in_whole.empty() ? rank : in_whole[rank]; }
};

class test_endpoint : public runtime::endpoint {
 public:
  test_endpoint(simulated_network& network, rank_t self, std::uint32_t channel, test_part const& part)
      : network_(network), self_(self), channel_(channel), part_(part) {}

  void begin() override {
    awaited_.clear();
    sent_.clear();
  }
  void expect(rank_t from, std::span<runtime::piece const> into) override {
    awaited_.push_back({from, {into.begin(), into.end()}, {}, false});
  }
  void send(rank_t to, runtime::envelope const& opening, std::span<runtime::piece const> from) override {
    simulated_network::message message{opening, {from.begin(), from.end()}};
    sent_.push_back(message.taken);
    network_.send(way(self_, to), std::move(message));
  }
  state look(std::size_t message) override {
    std::set<rank_t> silent;  // no later message of theirs may be taken for the one that is missing
    for (auto& m : awaited_) {
      if (m.here || silent.contains(m.from)) continue;
      m.here = network_.take(way(m.from, self_), m.into, m.opening);
      if (!m.here) silent.insert(m.from);
    }
    return awaited_[message].here ? state::here : state::awaited;
  }
  runtime::envelope const& envelope_of(std::size_t message) const override { return awaited_[message].opening; }
  bool all_sent() override {
    return std::ranges::all_of(sent_, [](auto const& taken) { return taken->load(std::memory_order_acquire); });
  }
  std::byte* room(std::uint32_t slice, std::size_t bytes) override {
    // A new one each time: whoever still uses the last one is found out.
    rooms_[slice] = std::vector<std::byte>(bytes);
    return rooms_[slice].data();
  }
  void offload(std::uint32_t slice, runtime::offloaded_items const& items, std::size_t count) override {
    meetings_[slice] = network_.offload(self_, slice, channel_, rooms_[slice].data(), items, count);
  }
  std::byte const* offloaded(std::uint32_t slice) override {
    auto const& mine = *meetings_[slice];
    return mine.over.load(std::memory_order_acquire) ? mine.result.data() : nullptr;
  }

 private:
  struct expected {
    rank_t from;
    std::vector<runtime::piece> into;
    runtime::envelope opening;
    bool here;
  };
  simulated_network::way way(rank_t sender, rank_t receiver) const {
    return {part_.whole(sender), part_.whole(receiver), channel_, part_.number};
  }

  simulated_network& network_;
  rank_t const self_;
  std::uint32_t const channel_;
  test_part const& part_;
  std::vector<expected> awaited_;
  std::vector<std::shared_ptr<std::atomic<bool>>> sent_;
  std::map<std::uint32_t, std::vector<std::byte>> rooms_;
  std::map<std::uint32_t, std::shared_ptr<simulated_network::meeting>> meetings_;
};

class test_transport : public runtime::transport {
 public:
  test_transport(simulated_network& network, std::chrono::nanoseconds deadline, bool any_rank_sends,
                 test_part part = {})
      : network_(network), deadline_(deadline), any_rank_sends_(any_rank_sends), part_(std::move(part)) {}

  std::unique_ptr<runtime::endpoint> open(rank_t proxy, std::uint32_t channel) override {
    return std::make_unique<test_endpoint>(network_, proxy, channel, part_);
  }
  void progress(detail::rank_state& proxy) override {
    if (!network_.failed()) return;
    auto const [why, reason] = network_.failure();
    proxy.shared.fail(why, reason);
  }
  void ask(detail::rank_state&, runtime::flight const&, rank_t) override {}  // messages are taken at once
  void tell_failure(detail::rank_state& proxy) noexcept override {
    try {
      proxy.shared.failure.raise();
    } catch (mismatch_error const& e) {
      network_.tell(runtime::cause::mismatch, e.what());
    } catch (timed_out const& e) {
      network_.tell(runtime::cause::timed_out, e.what());
    } catch (mpi::error const& e) {
      network_.tell(runtime::cause::messages, e.what());
    } catch (out_of_memory const& e) {
      network_.tell(runtime::cause::memory, e.what());
    } catch (error const& e) {
      network_.tell(runtime::cause::aborted, e.what());
    }
  }
  std::chrono::nanoseconds deadline() const noexcept override { return deadline_; }
  bool has_left_behind() const noexcept override { return false; }
  runtime::rules_of_parts rules() const noexcept override { return {any_rank_sends_, 2, told_apart, SIZE_MAX}; }
  std::unique_ptr<runtime::transport> open_part(runtime::part_of_team const& part) override {
    return std::make_unique<test_transport>(network_, deadline_, any_rank_sends_,
                                            test_part{1 + part.number % told_apart, part.in_whole});
  }

 private:
  /// So few that parts soon have to look for a number that none of their ranks has.
  static constexpr std::uint32_t told_apart = 7;

  simulated_network& network_;
  std::chrono::nanoseconds const deadline_;
  bool const any_rank_sends_;
  test_part const part_;
};

/// A domain, in one or in several processes: how many threads each has.
using host_shape = std::vector<rank_t>;

/// Hosts of these shapes. Every rank is its own proxy, or the first of each process is that of all. The network
/// combines so many slices.
class hosts {
 public:
  hosts(std::vector<host_shape> const& shapes, bool one_proxy, std::chrono::nanoseconds deadline = {},
        rank_t slices = 0)
      : transport_(network_, deadline, !one_proxy) {
    runtime::domain part;
    for (host_shape const& shape : shapes) {
      part.spread.domains.push_back(part.total);
      for (rank_t const threads : shape) {
        part.spread.processes.push_back({part.total, one_proxy ? 1 : threads});
        part.total += threads;
      }
      part.pointers &= shape.size() == 1;
    }
    part.spread.domains.push_back(part.total);
    part.crowded = true;
    if (!part.pointers) part.most_staging = 64 * 1024;
    part.messages = &transport_;
    part.spread.combiners = network_.combiners = program::combiners_of(part.spread, slices);
    for (host_shape const& shape : shapes) {
      make(shape, part);
      ++part.spread.own;
    }
  }

  rank_t size() const { return size_; }
  detail::team_state& state(std::size_t process) { return processes_[process]->whole->state(); }
  std::size_t processes() const { return processes_.size(); }
  simulated_network& network() { return network_; }

  /// As mpi::team::run() of every process; what each of them threw.
  std::vector<outcome> run(std::function<void(member&)> body) {
    team_room::domain_team::positions together{};
    for (auto& p : processes_) {
      auto const own = p->whole->furthest();
      for (std::size_t c = 0; c < together.size(); ++c) together[c] = runtime::further(together[c], own[c]);
    }
    network_.clear();
    network_.forgive();
    ++round_;
    for (auto& p : processes_) {
      if (!p->whole->state().shared.kind.one_process) p->whole->state().shared.failure.clear();
      p->whole->begin(round_, together);
    }
    std::vector<outcome> left(processes_.size());
    std::vector<std::thread> running;
    for (std::size_t k = 0; k < processes_.size(); ++k)
      running.emplace_back([&, k] { left[k] = outcome_of([&] { run(*processes_[k], body); }); });
    for (std::thread& t : running) t.join();
    return left;
  }

 private:
  struct host_process {
    team threads;
    std::unique_ptr<team_room::domain_team> whole;
    explicit host_process(rank_t size) : threads({.ranks = size, .place = placement::unbound}) {}
  };

  void make(host_shape const& shape, runtime::domain part) {
    rank_t const ranks = std::accumulate(shape.begin(), shape.end(), rank_t{0});
    rank_t here = 0;
    part.first = size_;
    std::byte* const shared = shape.size() > 1 ? shared_memory(ranks) : nullptr;
    for (rank_t const threads : shape) {
      auto& p = processes_.emplace_back(std::make_unique<host_process>(threads));
      auto memory = shared == nullptr ? numa::memory() : numa::memory::borrowed(shared, shared_bytes(ranks));
      p->whole = std::make_unique<team_room::domain_team>(p->threads.state(), part, ranks, here, std::move(memory));
      here += threads;
    }
    size_ += ranks;
  }

  static std::size_t shared_bytes(rank_t ranks) {
    return runtime::arena::bytes_for(runtime::node_list(ranks, runtime::anywhere), 64 * 1024);
  }
  /// Of a host, at one address for all its processes: ThreadSanitizer sees no order through two.
  std::byte* shared_memory(rank_t ranks) {
    void* const begin = mmap(nullptr, shared_bytes(ranks), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (begin == MAP_FAILED) throw std::bad_alloc();
    auto const unmap = [bytes = shared_bytes(ranks)](std::byte* at) { munmap(at, bytes); };
    return shared_.emplace_back(static_cast<std::byte*>(begin), unmap).get();
  }

  void run(host_process& p, std::function<void(member&)>& body) {
    auto const call = [](void* context, member& me) { (*static_cast<std::function<void(member&)>*>(context))(me); };
    try {
      p.threads.run([&](member& thread) { p.whole->run_rank(thread, call, &body); });
    } catch (std::exception const& thrown) {
      // What a main thread does whose ranks have failed outside of any message.
      network_.tell(runtime::cause::aborted, thrown.what());
      throw;
    }
  }

  simulated_network network_;
  test_transport transport_;
  std::vector<std::shared_ptr<std::byte>> shared_;
  std::vector<std::unique_ptr<host_process>> processes_;
  rank_t size_ = 0;
  std::uint32_t round_ = 0;
};

}  // namespace coset::team_test
