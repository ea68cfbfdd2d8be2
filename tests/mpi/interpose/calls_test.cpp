// SPDX-License-Identifier: Apache-2.0
// Every collective that is intercepted, in every form, with every predefined datatype and every operation that MPI defines
// for it. A program that knows nothing of coset: without the library before it, it tests MPI.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <thread>

#include "effort.hpp"
#include "elements.hpp"
#include "forms.hpp"

namespace coset::interpose_test {
namespace {

/// One communicator, as the calling process sees it.
struct ranks_of {
  MPI_Comm on;
  int rank = 0, size = 0;

  explicit ranks_of(MPI_Comm comm) : on(comm) {
    MPI_Comm_rank(on, &rank);
    MPI_Comm_size(on, &size);
  }
};

/// A call of random lengths; the same on all ranks for the same seed, but for the data.
class one_case {
 public:
  one_case(ranks_of const& among, verb what, element const& of, operation const* by, std::uint64_t seed, bool in_place)
      : among_(among),
        what_(what),
        of_(of),
        by_(by),
        seed_(seed),
        in_place_(in_place),
        random_(static_cast<unsigned>(seed)) {
    constexpr std::array lengths = {0, 1, 2, 5, 17, 64, 300, 1100};
    auto const draw_length = [&] { return lengths[random_() % lengths.size()]; };
    count_ = draw_length();
    root_ = static_cast<int>(random_() % static_cast<unsigned>(among.size));
    for (int r = 0; r < among.size; ++r) {
      counts_.push_back(varies() ? draw_length() : count_);
      begins_.push_back(all_);
      all_ += counts_.back() + (varies() && !combines(what) ? 1 : 0);  // what only moves may have gaps
    }
  }

  std::string fault(form how) const {
    array out = outputs();
    array const in = inputs(among_.rank);
    std::string const words = carried_out(in, out, how);
    if (!words.empty()) return words;
    if (!in_place_) {
      array const before = inputs(among_.rank);
      if (std::string const wrong = in.difference(before); !wrong.empty()) return "input: " + wrong;
    }
    return out.difference(gets() ? expected() : outputs());
  }

  /// Beside MPI's own result.
  std::string fault_beside_mpi() const {
    array ours = outputs(), theirs = outputs();
    array const in = inputs(among_.rank);
    if (in_place_ && what_ == verb::reduce) return "";  // where MPICH 4.0.2 reads from MPI_IN_PLACE
    std::string const words = carried_out(in, ours, form::blocking);
    if (!words.empty()) return words;
    carry_out_by_mpi(as_call(in, theirs));
    return ours.difference(theirs);
  }

  std::string name() const {
    return name_of(what_) + " of " + std::to_string(count_) + " " + of_.name +
           (by_ != nullptr ? " by " + by_->name : "") + (in_place_ ? " in place" : "") + ", root " +
           std::to_string(root_) + ", seed " + std::to_string(seed_);
  }

 private:
  bool varies() const {
    return what_ == verb::reduce_scatter || what_ == verb::allgatherv || what_ == verb::gatherv ||
           what_ == verb::scatterv;
  }
  bool scatters() const { return what_ == verb::reduce_scatter || what_ == verb::reduce_scatter_block || spreads(); }
  /// From the root.
  bool spreads() const { return what_ == verb::scatter || what_ == verb::scatterv; }
  bool gathers_at_root() const { return what_ == verb::gather || what_ == verb::gatherv; }
  bool gathers() const { return what_ == verb::allgather || what_ == verb::allgatherv || gathers_at_root(); }
  bool swaps() const { return what_ == verb::alltoall; }
  bool is_rooted() const { return what_ == verb::reduce || spreads() || gathers_at_root(); }
  bool is_root() const { return among_.rank == root_; }
  int own_count() const { return counts_[static_cast<std::size_t>(among_.rank)]; }
  int own_begin() const { return begins_[static_cast<std::size_t>(among_.rank)]; }

  /// Of this rank; others know what it is.
  array inputs(int rank) const {
    int const length = scatters() || swaps() ? all_ : gathers() ? counts_[static_cast<std::size_t>(rank)] : count_;
    array made(of_, static_cast<std::size_t>(length));
    made.draw(seed_ * 1000 + static_cast<std::uint64_t>(rank));
    return made;
  }

  bool is_in_place() const { return in_place_ && (is_root() || !is_rooted()); }

  /// What is there before the call.
  array outputs() const {
    bool const is_whole = gathers() || swaps() || (scatters() && !spreads() && in_place_);
    array made(of_, static_cast<std::size_t>(is_whole ? all_ : scatters() ? own_count() : count_));
    bool const gives = (is_in_place() && !spreads()) || (what_ == verb::broadcast && is_root());
    if (!gives) return made;
    array const own = inputs(among_.rank);
    std::size_t const at = gathers() ? static_cast<std::size_t>(own_begin()) : 0;
    if (own.count() > 0) std::copy(own.at(0), own.at(own.count()), made.at(at));
    return made;
  }

  bool gets() const {
    if (spreads()) return !is_in_place();
    if (what_ == verb::exclusive_scan) return among_.rank != 0;
    return is_root() || !is_rooted();
  }

  /// Only the root of a gather or scatter passes counts.
  call as_call(array const& in, array& out) const {
    bool const knows = is_root() || !is_rooted(), puts = spreads();
    return {what_,
            is_in_place() && !puts ? MPI_IN_PLACE : const_cast<array&>(in).data(),
            is_in_place() && puts ? MPI_IN_PLACE : out.data(),
            gathers() || puts ? own_count() : count_,
            knows ? counts_ : std::vector<int>(),
            knows ? begins_ : std::vector<int>(),
            of_.type,
            by_ != nullptr ? by_->handle : MPI_OP_NULL,
            root_,
            among_.on};
  }

  std::string carried_out(array const& in, array& out, form how) const {
    int const code = carry_out(as_call(in, out), how);
    return code == MPI_SUCCESS ? "" : "MPI's code " + std::to_string(code);
  }

  /// The first ranks' inputs, combined in their order by this process alone.
  array folded(int ranks) const {
    array sum = inputs(0);
    for (int r = 1; r < ranks; ++r) {
      array next = inputs(r);
      MPI_Reduce_local(sum.data(), next.data(), static_cast<int>(sum.count()), of_.type, by_->handle);
      sum = next;
    }
    return sum;
  }

  array expected() const {
    array made = outputs();
    auto const put = [&](array const& from, std::size_t begin, std::size_t count, std::size_t at) {
      if (count > 0) std::copy(from.at(begin), from.at(begin) + count * of_.size, made.at(at));
    };
    if (gathers()) {
      for (int r = 0; r < among_.size; ++r) {
        array const from = inputs(r);
        put(from, 0, from.count(), static_cast<std::size_t>(begins_[static_cast<std::size_t>(r)]));
      }
    } else if (spreads()) {
      put(inputs(root_), static_cast<std::size_t>(own_begin()), static_cast<std::size_t>(own_count()), 0);
    } else if (swaps()) {
      for (int r = 0; r < among_.size; ++r) {
        auto const length = static_cast<std::size_t>(count_);
        put(inputs(r), static_cast<std::size_t>(own_begin()), length,
            static_cast<std::size_t>(begins_[static_cast<std::size_t>(r)]));
      }
    } else if (what_ == verb::broadcast) {
      put(inputs(root_), 0, static_cast<std::size_t>(count_), 0);
    } else if (scatters()) {
      put(folded(among_.size), static_cast<std::size_t>(own_begin()), static_cast<std::size_t>(own_count()), 0);
    } else if (what_ != verb::barrier) {
      int const last = what_ == verb::scan             ? among_.rank + 1
                       : what_ == verb::exclusive_scan ? among_.rank
                                                       : among_.size;
      put(folded(last), 0, static_cast<std::size_t>(count_), 0);
    }
    return made;
  }

  ranks_of const& among_;
  verb what_;
  element const& of_;
  operation const* by_;
  std::uint64_t seed_;
  bool in_place_;
  std::mt19937 random_;
  int count_ = 0, root_ = 0, all_ = 0;
  std::vector<int> counts_, begins_;
};

/// A communicator's first blocking collective makes its team.
ranks_of with_team(MPI_Comm on) {
  MPI_Barrier(on);
  return ranks_of(on);
}

/// All verbs with all types and operations and, unless there is little time, all forms of each.
template <class Do>
void for_each_case(ranks_of const& among, Do const& each) {
  std::uint64_t seed = 1;
  auto const by_verb = [&](verb what, element const& of, operation const* by) {
    for (bool const in_place : {false, true}) {
      if (in_place && (what == verb::broadcast || what == verb::barrier)) continue;
      each(one_case(among, what, of, by, ++seed, in_place));
    }
  };
  for (element const& of : elements()) {
    for (verb const what : all_verbs) {
      if (!combines(what)) by_verb(what, of, nullptr);
    }
    for (operation const& by : operations_for(of)) {
      for (verb const what : all_verbs) {
        if (combines(what)) by_verb(what, of, &by);
      }
    }
  }
}

void every_form_of_every_call(MPI_Comm on) {
  ranks_of const among = with_team(on);
  std::string faults;
  std::minstd_rand random;
  for_each_case(among, [&](one_case const& one) {
    // One of the forms, drawn, where there is little time.
    std::size_t const drawn = random() % all_forms.size();
    for (std::size_t i = 0; i < all_forms.size(); ++i) {
      if (test::wanted_effort() == test::effort::small && i != drawn) continue;
      std::string const fault = one.fault(all_forms[i]);
      if (!fault.empty() && faults.size() < 2000)
        faults += name_of(all_forms[i]) + " " + one.name() + ": " + fault + "; ";
    }
  });
  EXPECT_EQ(said_by_all(faults), "");
}

/// Before MPI_Init, as the library looks for it there.
[[maybe_unused]] bool const nothing_is_left_to_mpi = setenv("COSET_INTERPOSE_REQUIRE", "1", 1) == 0;

}  // namespace

TEST(Interposed, EveryFormOfEveryCallGivesWhatTheOperationSays) { every_form_of_every_call(MPI_COMM_WORLD); }

TEST(Interposed, ResultsAreTheLibrarysOwn) {
  ranks_of const among = with_team(MPI_COMM_WORLD);
  // MPICH's ranks wait for milliseconds where they share processors.
  bool const share_processors = static_cast<unsigned>(among.size) > std::thread::hardware_concurrency();
  if (share_processors && test::wanted_effort() != test::effort::large) GTEST_SKIP() << "more ranks than processors";
  std::string faults;
  for_each_case(among, [&](one_case const& one) {
    std::string const fault = one.fault_beside_mpi();
    if (!fault.empty() && faults.size() < 2000) faults += one.name() + ": " + fault + "; ";
  });
  EXPECT_EQ(said_by_all(faults), "");
}

TEST(Interposed, RanksInAnotherOrderAreCountedAsTheCommunicatorDoes) {
  int rank, ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  MPI_Comm mixed;
  MPI_Comm_split(MPI_COMM_WORLD, 0, rank % 2 * ranks + rank, &mixed);  // even ones first
  every_form_of_every_call(mixed);
  MPI_Comm_free(&mixed);
}

TEST(Interposed, AProcessAloneIsAnswered) { every_form_of_every_call(MPI_COMM_SELF); }

}  // namespace coset::interpose_test
