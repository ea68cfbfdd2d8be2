// SPDX-License-Identifier: Apache-2.0
// What a process keeps of a team over processes.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "coset/mpi.hpp"
#include "mpi/agreement.hpp"
#include "mpi/pool/pool.hpp"
#include "mpi/residents.hpp"
#include "mpi/transport/transport.hpp"
#include "numa/process/fork.hpp"
#include "team/domain_team.hpp"
#include "team/threads/lent_threads.hpp"

namespace coset::inline COSET_ABI::mpi {

/// Counts the rounds of all teams so far. The library reuses the place of a freed communicator; there, messages of a
/// failed round that no process has received must not be taken for those of a new team's first round.
void note_round(std::uint32_t round) noexcept;
std::uint32_t latest_round() noexcept;

char const* name_of_level(int);

/// How long a process waits for others until it tells them where it is.
constexpr patience until_others_are_told = std::chrono::milliseconds(20);

/// Threads of an adopted team, for as long as this exists.
class loan {
 public:
  loan() = default;
  ~loan() { give_back(); }
  loan(loan const&) = delete;
  loan& operator=(loan const&) = delete;
  void take(team_room::adopted_threads&);
  void give_back() noexcept;

 private:
  team_room::adopted_threads* of_ = nullptr;
};

struct team::state final : resident {
  /// Collective: see the constructor of team.
  static std::unique_ptr<state> founded(MPI_Comm of, coset::team& threads, options const& wanted);

  void run(void (*body)(void*, member&), void* context);
  member_guard join(rank_t thread);
  detail::rank_state* joined(rank_t thread) const noexcept;
  bool is_adopted() const noexcept { return lent() != nullptr; }
  void reset();
  /// False in a forked child, which MPI knows nothing of.
  bool is_of_this_process() const noexcept { return process_ == numa::process_number_by_the_system(); }
  /// The last call: whether this can be destroyed. If not, its resources are left to MPI.
  bool can_be_destroyed() noexcept;
  void attend() noexcept override;
  void end_with_mpi() noexcept override;

  process_map const& everywhere() const noexcept { return map_; }
  process const& here() const noexcept { return mine_; }
  std::string const& in_words() const noexcept { return description_; }
  /// The team whose members bodies get.
  detail::team_state& ranks() const noexcept { return ranks_ ? ranks_->state() : threads_.state(); }

  state* next_left_to_mpi = nullptr;

 private:
  /// Of memory that a host's processes share: the staging of one rank, and all bytes with it.
  struct window_size {
    std::int64_t staging;
    std::size_t bytes;
  };

  state(std::shared_ptr<pool>, coset::team& threads, options const& wanted, int level);
  pool::facts introduce(record& own);
  void found(pool::facts const& mine, record const& everywhere);
  pool::survey const& get_to_know(pool::facts const& mine, record const& everywhere);
  void take_seat(process_map const& found);
  void share_memory(process_map const& found);
  std::vector<window_size> sizes_to_try(process_map const& found) const;
  std::int64_t open_window(std::vector<window_size> const&);
  void settle(process_map const& found, bool has_window);
  void settle_in_memory(bool has_window);
  void look_at_network();
  void set_up_offload();
  void make_ranks();
  void lend_threads();
  std::string describe() const;

  team_room::lent_threads* lent() const noexcept;
  void require_this_process(char const* what) const;
  void require_main_thread(char const* what) const;
  void begin_running();
  void begin();
  void end(std::exception_ptr const& thrown);
  bool end_well(bool well);
  bool agree_to_destroy() noexcept;
  bool end_membership();
  record agree(record);
  void listen_while_waiting(occasion, patience waited, bool& has_taken_leave);
  void give_up(char const* reason) noexcept;
  char const* reason_of_end() const noexcept;
  void leave_to_mpi() noexcept;
  void take() noexcept;

  std::uint32_t const process_ = numa::process_number();
  coset::team& threads_;
  loan borrowed_;
  options const wanted_;
  int const level_;
  std::shared_ptr<pool> pool_;
  int const self_;  ///< the number of this process
  lease connections_;
  process_map map_;
  std::uint32_t survey_ = 0;  ///< its number in the pool
  process mine_;
  std::optional<transport> messages_;                 ///< empty if this is the only process
  std::optional<runtime::floating_point_mode> mode_;  ///< of the thread that makes this on process 0
  runtime::domain part_;
  std::optional<team_room::domain_team> ranks_;
  std::uint32_t round_ = 0;
  std::atomic<bool> running_ = false;
  std::atomic<bool> in_use_ = false;  ///< by a thread that runs, resets, destroys or attends it
  bool misses_a_process_ = false;     ///< in the agreement to destroy
  bool ended_with_mpi_ = false;
  std::optional<runtime::words>
      broken_;  ///< why no collective can work any more: a process was not heard of, for example
  std::string description_;
};

}  // namespace coset::mpi
