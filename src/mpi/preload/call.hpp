// SPDX-License-Identifier: Apache-2.0
// A collective as a program calls it, and as the team of its communicator carries it out.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bindings/c/arguments.hpp"
#include "mpi/preload/arguments.hpp"
#include "mpi/preload/attachment.hpp"
#include "mpi/preload/handles/datatypes.hpp"
#include "mpi/preload/handles/operations.hpp"

namespace coset::interpose {

enum class form : unsigned char { blocking, nonblocking, persistent };

/// "Reduce_scatter", of pieces of any length, or "Reduce_scatter_block", of equal ones.
std::string_view name_of(verb, bool varies) noexcept;
/// "MPI_Ireduce_scatter_block".
std::string name_of(verb, bool varies, form);

/// Whether the calling process has the array of all ranks' pieces, and knows their counts.
inline bool has_all_pieces(attachment const& a, arguments const& c) noexcept {
  return !detail::is_rooted(c.what) || a.rank() == c.root;
}

/// Bytes of the whole vector, as all processes know them alike; 0 where only the root does. Empty where MPI may refuse the
/// arguments.
std::optional<std::size_t> known_bytes(attachment const&, arguments const&) noexcept;

/// Whether MPI refuses an input and an output that begin at the same place in all collectives; else it takes some as in place.
#if defined(OPEN_MPI)
inline constexpr bool mpi_refuses_one = false;
#else
inline constexpr bool mpi_refuses_one = true;
#endif
/// An array that MPI would refuse, for which it shall do so.
bool is_wrong(void const* array, MPI_Count, datatype const&);

/// What a team is asked to do.
struct team_call {
  attachment* of = nullptr;
  verb what = verb::barrier;
  void const* in = nullptr;
  void* out = nullptr;
  std::size_t count = 0;
  combination how = {.elements = COSET_UINT8};
  std::uint32_t root = 0;
  std::vector<std::size_t> counts = {};  ///< for each of the team's ranks; empty: `count` each

  coset_status run() const;
  coset_status start(coset_request* at) const;
  /// The same as coset.h's functions have it.
  capi::made_call made() const;
};

/// A call as the program knows it, for messages about it.
struct as_called {
  verb what{};
  bool varies = false;
  form how = form::blocking;
  MPI_Count count = 0;  ///< this process's
  MPI_Datatype type = MPI_DATATYPE_NULL;

  /// "MPI_Ibcast of 3 MPI_INT".
  std::string in_words() const;
};

/// What this process sends; of what the root alone sends, what it gets.
as_called described(attachment const&, arguments const&, form);

/// The same as the team is asked for it, and what remains to be done with what that gives.
struct prepared : team_call {
  as_called by_program = {};
  std::unique_ptr<std::byte[]> sent = {};  ///< in place of the caller's arrays
  std::unique_ptr<std::byte[]> received = {};
  std::function<void()> finish = {};  ///< empty: nothing remains
  bool is_empty = false;              ///< there is nothing to do at all
  bool tells_counts = false;          ///< the root has to tell the others before how long their pieces are
  std::size_t own_count = 0;          ///< by this process's own arguments, where that is to be told
  bool disagrees = false;             ///< this process expects something else than it has been told

  /// What goes before the call: by this its root tells `counts`.
  team_call telling();
  /// After it.
  void hear();
  /// A process that disagrees calls with what it expects, so that all hear of it from the team.
  team_call as_expected() const;
};

/// Why MPI has to carry out a call; null: a team can. All processes of the communicator decide alike, unless the program
/// calls MPI wrongly: then it is MPI that shall say so.
using reason = char const*;
extern reason const wrong_call, too_long;
reason prepare(attachment&, arguments const&, form, prepared&);

}  // namespace coset::interpose
