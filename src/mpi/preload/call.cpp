// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/call.hpp"

#include <algorithm>
#include <array>
#include <type_traits>

#include "bindings/c/status.hpp"
#include "mpi/preload/handles/packing.hpp"
#include "mpi/preload/ordering.hpp"
#include "mpi/preload/pieces.hpp"
#include "mpi/preload/real.hpp"

namespace coset::interpose {
namespace {

template <class T>
T* moved(T* base, MPI_Aint bytes) {
  using byte = std::conditional_t<std::is_const_v<T>, std::byte const, std::byte>;
  return reinterpret_cast<byte*>(base) + bytes;
}

/// Whether MPI refuses two arrays of a reduction that begin at the same place: MPICH always, Open MPI 4.1 in an allreduce of more
/// than one element, and at the root of a reduction. Where MPI takes them, programs get what is in place.
constexpr bool mpi_refuses(verb what, MPI_Count count) {
  return mpi_refuses_one || (what == verb::allreduce && count > 1) || (what == verb::reduce && count > 0);
}

bool are_one(void const* in, datatype const& in_type, void const* out, datatype const& out_type, MPI_Count count) {
  return count != 0 && in_type.size != 0 &&
         moved(in, in_type.lower) == moved(static_cast<void const*>(out), out_type.lower);
}

/// What MPI may refuse as well, but all processes alike.
constexpr reason undefined = "an operation that MPI does not define for the datatype";

/// Allreduce, reduce and the scans.
reason whole(attachment& a, arguments const& c, datatype const& elements, prepared& call) {
  combination const how = combination_of(c.operation, elements);
  if (how.elements == 0) return undefined;
  bool const ranks_matter = how.in_order || detail::is_scan(c.what);
  if (ranks_matter && a.is_renumbered()) return in_ranks_order(a, c, elements, call);
  call.what = c.what;
  call.how = how;
  call.count = static_cast<std::size_t>(c.count);
  call.root = a.place_of(c.root);
  bool const gets = !detail::gets_nothing(c.what, a.rank() == c.root, a.rank() == 0);
  if ((c.in != MPI_IN_PLACE && is_wrong(c.in, c.count, elements)) || (gets && is_wrong(c.out, c.count, elements)))
    return wrong_call;
  bool const is_one = gets && c.in != MPI_IN_PLACE && are_one(c.in, elements, c.out, elements, c.count);
  if (is_one && mpi_refuses(c.what, c.count)) return wrong_call;
  bool const has_input = c.in != MPI_IN_PLACE && !is_one;
  bool const scans = detail::is_scan(c.what);
  call.in = has_input ? c.in : COSET_IN_PLACE;
  call.out = c.out;
  // Each rank for itself may scan in place, of which teams want to know from all; and rank 0 has no result of an Exscan.
  if (is_image(elements) && scans && (!has_input || !gets)) {
    if (gets) {
      call.sent = image_of(c.out, c.count, elements);
      call.in = call.sent.get();
    } else {
      call.received = room_of(call.count * static_cast<std::size_t>(elements.stride));
      call.out = call.received.get();
      if (!has_input) call.in = c.out;
    }
  }
  if (is_image(elements)) return nullptr;
  call.sent = image_of(has_input ? c.in : c.out, c.count, elements);
  call.in = call.sent.get();
  if (!gets) return nullptr;
  call.received = room_of(call.count * static_cast<std::size_t>(elements.stride));
  call.out = call.received.get();
  call.finish = [from = call.received.get(), to = c.out, count = c.count, type = elements] {
    copy_image(from, to, count, type);
  };
  return nullptr;
}

reason broadcast(attachment& a, arguments const& c, datatype const& elements, prepared& call) {
  call.what = c.what;
  call.root = a.place_of(c.root);
  call.count = static_cast<std::size_t>(c.count) * elements.size;
  if (is_wrong(c.out, c.count, elements)) return wrong_call;
  if (elements.dense) {
    call.out = c.out;
    return nullptr;
  }
  call.received = room_of(call.count);
  call.out = call.received.get();
  if (a.rank() == c.root)
    pack(c.out, c.count, elements, call.received.get());
  else
    call.finish = [from = call.received.get(), to = c.out, count = c.count, type = elements] {
      unpack(from, to, count, type);
    };
  return nullptr;
}

/// What each rank gets, as the team numbers them; whether any gets something.
bool note_counts(attachment& a, prepared& call, arguments const& c, std::size_t unit) {
  bool any = false;
  call.counts.resize(static_cast<std::size_t>(a.size()));
  for (int r = 0; r < a.size(); ++r) {
    MPI_Count const count = c.of_ranks.count_of(r);
    any = any || count != 0;
    call.counts[a.place_of(r)] = static_cast<std::size_t>(count) * unit;
  }
  return any;
}

reason scattered(attachment& a, arguments const& c, datatype const& elements, prepared& call) {
  combination const how = combination_of(c.operation, elements);
  if (how.elements == 0) return undefined;
  if (how.in_order && a.is_renumbered()) return in_ranks_order(a, c, elements, call);
  call.what = c.what;
  call.how = how;
  bool const varies = c.varies;
  if (varies) {
    if (!note_counts(a, call, c, 1)) call.is_empty = true;
  } else {
    call.count = static_cast<std::size_t>(c.count);
  }
  void const* const in = c.in != MPI_IN_PLACE ? c.in : c.out;
  call.in = in;
  call.out = c.out;
  auto const count_of = [&](int r) { return varies ? c.of_ranks.count_of(r) : c.count; };
  MPI_Count all = 0;
  for (int r = 0; r < a.size(); ++r) all += count_of(r);
  MPI_Count const own = count_of(a.rank());
  if ((c.in != MPI_IN_PLACE && is_wrong(c.in, all, elements)) || is_wrong(c.out, own, elements)) return wrong_call;
  bool const is_one = c.in != MPI_IN_PLACE && are_one(c.in, elements, c.out, elements, own);
  if (is_one && mpi_refuses(c.what, own)) return wrong_call;
  bool const plain = is_image(elements);
  if (!plain || a.is_renumbered()) {
    call.sent = image_of(in, all, elements);
    if (a.is_renumbered()) reorder_pieces(a, call.sent, count_of, elements);
    call.in = call.sent.get();
  }
  if (!plain || c.in == MPI_IN_PLACE || is_one) {
    call.received = room_of(static_cast<std::size_t>(own * elements.stride));
    call.out = call.received.get();
    call.finish = [from = call.received.get(), to = c.out, own, type = elements] { copy_image(from, to, own, type); };
  }
  return nullptr;
}

/// The datatype whose elements are counted, if MPI takes all of the arguments.
datatype const* checked(attachment& a, arguments const& c) {
  datatype const* const elements = known(c.type);
  if (elements == nullptr || c.root < 0 || c.root >= a.size() || c.count < 0) return nullptr;
  if (c.varies && !c.of_ranks.have_counts()) return nullptr;
  for (int r = 0; c.varies && r < a.size(); ++r) {
    if (c.of_ranks.count_of(r) < 0) return nullptr;
  }
  return elements;
}

reason prepare_call(attachment& a, arguments const& c, prepared& call) {
  call.what = c.what;
  if (detail::is_barrier(c.what)) return nullptr;
  if (detail::only_moves(c.what) && detail::is_of_pieces(c.what)) return move_pieces(a, c, call);
  datatype const* const elements = checked(a, c);
  if (elements == nullptr) return wrong_call;
  if (elements->too_long) return too_long;
  if (detail::gets_pieces(c.what)) return scattered(a, c, *elements, call);
  return detail::only_moves(c.what) ? broadcast(a, c, *elements, call) : whole(a, c, *elements, call);
}

}  // namespace

bool is_wrong(void const* array, MPI_Count count, datatype const& type) {
  return array == MPI_IN_PLACE || (array == nullptr && count != 0 && type.size != 0 && type.lower == 0);
}

reason const wrong_call = "arguments that MPI may refuse", too_long = "gaps in elements of more than 1 GiB";

std::optional<std::size_t> known_bytes(attachment const& a, arguments const& c) noexcept {
  if (detail::is_barrier(c.what) || (c.varies && detail::is_rooted(c.what))) return 0;
  bool const moves = detail::only_moves(c.what), pieces = detail::is_of_pieces(c.what);
  // Of the side that counts on every process: of what the root alone has, each process's own piece.
  bool by_output = moves && pieces;
  if (moves && pieces && detail::is_rooted(c.what))
    by_output = detail::gives_pieces(c.what) ? c.in == MPI_IN_PLACE : a.rank() != c.root;
  datatype const* const type = known(by_output ? c.out_type : c.type);
  if (type == nullptr || (c.varies && !c.of_ranks.have_counts())) return std::nullopt;
  MPI_Count elements = by_output ? c.out_count : c.count;
  if (pieces) elements *= a.size();
  if (c.varies) elements = 0;
  for (int r = 0; c.varies && r < a.size(); ++r) elements += c.of_ranks.count_of(r);
  return static_cast<std::size_t>(std::max<MPI_Count>(elements, 0)) * type->size;
}

std::string_view name_of(verb what, bool varies) noexcept {
  auto const& names = detail::row_of(what).in_mpi;
  return varies ? names.of_any_counts : names.of_equal_counts;
}

std::string name_of(verb what, bool varies, form how) {
  std::string const name(name_of(what, varies));
  if (how == form::persistent) return "MPI_" + name + "_init";
  if (how == form::blocking) return "MPI_" + name;
  std::string lower = name;
  lower[0] = static_cast<char>(lower[0] - 'A' + 'a');
  return "MPI_I" + lower;
}

std::string as_called::in_words() const {
  std::string const name = name_of(what, varies, how);
  if (detail::is_barrier(what)) return name;
  std::array<char, MPI_MAX_OBJECT_NAME> of{};
  int length = 0;
  PMPI_Type_get_name(type, of.data(), &length);
  return name + " of " + std::to_string(count) + " " + (length > 0 ? of.data() : "of a datatype without a name");
}

as_called described(attachment const& a, arguments const& c, form how) {
  bool const moves = detail::only_moves(c.what), scatters = moves && detail::gets_pieces(c.what);
  bool const by_output = scatters ? c.out != MPI_IN_PLACE : moves && c.in == MPI_IN_PLACE;
  as_called call{c.what, c.varies, how, by_output ? c.out_count : c.count, by_output ? c.out_type : c.type};
  bool const has_counts = detail::gives_pieces(c.what) == by_output;  // on this side of the call
  if (c.varies && has_counts) call.count = c.of_ranks.count_of(a.rank());
  return call;
}

reason prepare(attachment& a, arguments const& c, form how, prepared& call) {
  call.of = &a;
  reason const why_not = prepare_call(a, c, call);
  if (why_not == nullptr) call.by_program = described(a, c, how);
  bool const has_one_count = call.counts.empty() && !detail::is_barrier(c.what);
  call.is_empty = call.is_empty || (has_one_count && call.count == 0);
  return why_not;
}

team_call prepared::telling() {
  return {
      .of = of, .what = verb::broadcast, .out = counts.data(), .count = counts.size() * sizeof counts[0], .root = root};
}

team_call prepared::as_expected() const {
  team_call call = *this;
  if (disagrees) call.counts[coset_member_rank(of->me())] = own_count;
  return call;
}

void prepared::hear() {
  disagrees = counts[coset_member_rank(of->me())] != own_count;
  tells_counts = false;
}

capi::made_call team_call::made() const {
  coset_member* const me = of->me();
  if (detail::is_barrier(what)) return capi::barrier(me);
  if (detail::spreads_whole(what)) return capi::broadcast(me, out, count, how.elements, root);
  if (!detail::is_of_pieces(what)) return capi::whole(what, me, in, out, count, how.elements, how.by, root);
  return counts.empty() ? capi::in_pieces(what, me, in, out, count, how.elements, how.by, root)
                        : capi::in_pieces(what, me, in, out, counts.data(), how.elements, how.by, root);
}

coset_status team_call::run() const {
  return capi::guarded([&] { capi::run(of->me(), made()); });
}

coset_status team_call::start(coset_request* at) const {
  return capi::guarded([&] { capi::start(of->me(), made(), at); });
}

}  // namespace coset::interpose
