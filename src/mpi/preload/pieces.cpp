// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/pieces.hpp"

#include <cstring>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "mpi/preload/handles/packing.hpp"

namespace coset::interpose {
namespace {

/// One rank's elements in an array of the caller's.
struct one_piece {
  std::byte* at;
  MPI_Count count;
  datatype type;

  std::size_t bytes() const { return static_cast<std::size_t>(count) * type.size; }
};

/// An array with a piece for each rank, as the caller has it. Teams want the pieces one after another in the team's order.
class piece_array {
 public:
  /// `each` elements for every rank, or as many as `of_ranks` says.
  piece_array(attachment const& a, void* base, datatype const& type, MPI_Count each, pieces const* of_ranks)
      : a_(&a), base_(static_cast<std::byte*>(base)), type_(type), each_(each), of_ranks_(of_ranks) {}

  one_piece of(int rank) const { return {base_ + place_of(rank) * type_.extent, count_of(rank), type_}; }
  std::size_t bytes() const {
    std::size_t all = 0;
    for (int r = 0; r < a_->size(); ++r) all += of(r).bytes();
    return all;
  }
  /// In bytes, in the team's order.
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all(static_cast<std::size_t>(a_->size()));
    for (int r = 0; r < a_->size(); ++r) all[a_->place_of(r)] = of(r).bytes();
    return all;
  }
  /// Where the first of them begins, if they lie as a team wants them.
  std::optional<std::byte*> as_one() const {
    if (!type_.dense) return std::nullopt;
    if (of_ranks_ == nullptr && !a_->is_renumbered()) return base_;
    auto const begins = begins_of_pieces();
    std::optional<std::byte*> first;
    for (int r = 0; r < a_->size(); ++r) {
      if (count_of(r) == 0) continue;
      std::byte* const would_begin = of(r).at - begins[a_->place_of(r)];
      if (first.value_or(would_begin) != would_begin) return std::nullopt;
      first = would_begin;
    }
    return first.value_or(base_);
  }
  room packed() const {
    room all = room_of(bytes());
    auto const begins = begins_of_pieces();
    for (int r = 0; r < a_->size(); ++r) pack(of(r).at, count_of(r), type_, all.get() + begins[a_->place_of(r)]);
    return all;
  }
  /// Puts pieces where the caller wants them, who may have forgotten the arguments by then.
  std::function<void()> unpacking(std::byte const* from) const {
    auto const begins = begins_of_pieces();
    std::vector<std::pair<std::byte const*, one_piece>> all;
    for (int r = 0; r < a_->size(); ++r) all.emplace_back(from + begins[a_->place_of(r)], of(r));
    return [all = std::move(all)] {
      for (auto const& [packed, piece] : all) unpack(packed, piece.at, piece.count, piece.type);
    };
  }

 private:
  MPI_Count count_of(int rank) const { return of_ranks_ != nullptr ? of_ranks_->count_of(rank) : each_; }
  MPI_Aint place_of(int rank) const {
    return of_ranks_ != nullptr ? of_ranks_->place_of(rank) : static_cast<MPI_Aint>(each_) * rank;
  }
  std::vector<std::size_t> begins_of_pieces() const {
    auto begins = counts();
    std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), std::size_t{0});
    return begins;
  }

  attachment const* a_;
  std::byte* base_;
  datatype type_;
  MPI_Count each_;
  pieces const* of_ranks_;
};

/// An array of the call: of one piece, or of a piece for each rank.
struct array_argument {
  void const* array;
  MPI_Count count;
  datatype const* type;
};

/// What MPI would refuse on this process alone, for which it shall do so.
bool is_refused(array_argument const& of, MPI_Count count) {
  return of.type == nullptr || count < 0 || is_wrong(of.array, count, *of.type);
}

bool are_counted(attachment const& a, arguments const& c) {
  if (!c.varies) return true;
  if (!c.of_ranks.have_counts() || !c.of_ranks.have_places()) return false;
  for (int r = 0; r < a.size(); ++r) {
    if (c.of_ranks.count_of(r) < 0) return false;
  }
  return true;
}

/// The caller's array of all ranks' pieces; empty where MPI would refuse it.
std::optional<piece_array> array_of(attachment const& a, arguments const& c, array_argument const& of) {
  if (of.type == nullptr || !are_counted(a, c)) return std::nullopt;
  piece_array const made(a, const_cast<void*>(of.array), *of.type, of.count, c.varies ? &c.of_ranks : nullptr);
  if (is_refused(of, c.varies ? static_cast<MPI_Count>(made.bytes()) : of.count)) return std::nullopt;
  return made;
}

/// Two arrays that begin at the same place. MPICH refuses them if they have one type, Open MPI takes them as in place.
bool are_one(one_piece const& a, one_piece const& b) {
  return a.bytes() != 0 && a.at + a.type.lower == b.at + b.type.lower;
}

bool mpi_refuses(one_piece const& a, one_piece const& b) {
  return mpi_refuses_one && a.type.handle == b.type.handle && a.count == b.count;
}

/// From here on the call takes its input from the piece, packed where the team cannot read it as it is.
void take_in(prepared& call, one_piece const& in) {
  call.in = in.at;
  if (in.type.dense) return;
  call.sent = room_of(in.bytes());
  pack(in.at, in.count, in.type, call.sent.get());
  call.in = call.sent.get();
}

void take_in(prepared& call, piece_array const& in) {
  auto const as_one = in.as_one();
  if (!as_one) call.sent = in.packed();
  call.in = as_one ? *as_one : call.sent.get();
}

void give_out(prepared& call, one_piece const& out) {
  call.out = out.at;
  if (out.type.dense) return;
  call.received = room_of(out.bytes());
  call.out = call.received.get();
  call.finish = [from = call.received.get(), out] { unpack(from, out.at, out.count, out.type); };
}

void give_out(prepared& call, piece_array const& out) {
  if (auto const as_one = out.as_one()) {
    call.out = *as_one;
    return;
  }
  call.received = room_of(out.bytes());
  call.out = call.received.get();
  call.finish = out.unpacking(call.received.get());
}

/// How long pieces are, in bytes. Where only the root knows it of others, it tells them before.
void count_pieces(attachment const& a, arguments const& c, one_piece const& own, std::optional<piece_array> const& all,
                  prepared& call) {
  call.own_count = own.bytes();
  if (!c.varies) {
    call.count = own.bytes();
    return;
  }
  call.tells_counts = detail::is_rooted(c.what) && c.of_ranks.told == nullptr;
  if (c.of_ranks.told == nullptr) {
    call.counts = all ? all->counts() : std::vector<std::size_t>(static_cast<std::size_t>(a.size()));
  } else {
    call.counts = *c.of_ranks.told;
    call.disagrees = call.counts[a.place_of(a.rank())] != call.own_count;
  }
  if (!call.tells_counts) call.is_empty = std::reduce(call.counts.begin(), call.counts.end()) == 0;
}

one_piece piece_of(array_argument const& of) {
  return {static_cast<std::byte*>(const_cast<void*>(of.array)), of.count, *of.type};
}

/// Allgather, and gather, whose result only the root has.
reason gathered(attachment& a, arguments const& c, prepared& call) {
  bool const gets = has_all_pieces(a, c), is_in_place = gets && c.in == MPI_IN_PLACE;
  array_argument const input{c.in, c.count, is_in_place ? nullptr : known(c.type)};
  std::optional<piece_array> out;
  if (gets && !(out = array_of(a, c, {c.out, c.out_count, known(c.out_type)}))) return wrong_call;
  if (!is_in_place && is_refused(input, input.count)) return wrong_call;
  one_piece own = is_in_place ? out->of(a.rank()) : piece_of(input);
  if (own.type.too_long || (gets && out->of(a.rank()).type.too_long)) return too_long;
  if (gets && out->of(a.rank()).bytes() != own.bytes()) return wrong_call;
  count_pieces(a, c, own, out, call);
  if (gets && !is_in_place && are_one(own, out->of(a.rank())) && mpi_refuses(own, out->of(a.rank()))) return wrong_call;
  take_in(call, own);
  if (gets) give_out(call, *out);
  return nullptr;
}

reason scattered(attachment& a, arguments const& c, prepared& call) {
  bool const gives = has_all_pieces(a, c), is_in_place = gives && c.out == MPI_IN_PLACE;
  array_argument const output{c.out, c.out_count, is_in_place ? nullptr : known(c.out_type)};
  std::optional<piece_array> in;
  if (gives && !(in = array_of(a, c, {c.in, c.count, known(c.type)}))) return wrong_call;
  if (!is_in_place && is_refused(output, output.count)) return wrong_call;
  one_piece const own = is_in_place ? in->of(a.rank()) : piece_of(output);
  if (own.type.too_long || (gives && in->of(a.rank()).type.too_long)) return too_long;
  if (gives && in->of(a.rank()).bytes() != own.bytes()) return wrong_call;
  count_pieces(a, c, own, in, call);
  bool const is_one = gives && !is_in_place && are_one(own, in->of(a.rank()));
  if (is_one && mpi_refuses(own, in->of(a.rank()))) return wrong_call;
  if (gives) take_in(call, *in);
  if (!is_in_place && !is_one) {
    give_out(call, own);
    return nullptr;
  }
  // The root's piece stays where it is, in an array that may not be written.
  call.received = room_of(own.bytes());
  call.out = call.received.get();
  return nullptr;
}

/// In place each rank sends a copy, as in teams all are in place or none, and of two arrays that begin at one place others
/// know nothing.
reason swapped(attachment& a, arguments const& c, prepared& call) {
  auto const out = array_of(a, c, {c.out, c.out_count, known(c.out_type)});
  if (!out) return wrong_call;
  bool const is_in_place = c.in == MPI_IN_PLACE;
  auto const in = is_in_place ? out : array_of(a, c, {c.in, c.count, known(c.type)});
  if (!in || in->of(0).bytes() != out->of(0).bytes()) return wrong_call;
  if (in->of(0).type.too_long || out->of(0).type.too_long) return too_long;
  bool const is_one = !is_in_place && are_one(in->of(0), out->of(0));
  if (is_one && mpi_refuses(in->of(0), out->of(0))) return wrong_call;
  count_pieces(a, c, in->of(0), in, call);
  take_in(call, *in);
  if ((is_in_place || is_one) && call.sent == nullptr) {
    call.sent = in->packed();
    call.in = call.sent.get();
  }
  give_out(call, *out);
  return nullptr;
}

}  // namespace

reason move_pieces(attachment& a, arguments const& c, prepared& call) {
  if (c.root < 0 || c.root >= a.size()) return wrong_call;
  call.what = c.what;
  call.root = a.place_of(c.root);
  if (detail::swaps_pieces(c.what)) return swapped(a, c, call);
  return detail::gives_pieces(c.what) ? gathered(a, c, call) : scattered(a, c, call);
}

}  // namespace coset::interpose
