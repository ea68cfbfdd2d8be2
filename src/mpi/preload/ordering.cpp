// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/ordering.hpp"

#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/preload/real.hpp"

namespace coset::interpose {

void reorder_pieces(attachment& a, room& image, count_of_rank const& count_of, datatype const& type) {
  auto const bytes_of = [&](int r) { return static_cast<std::size_t>(count_of(r) * type.stride); };
  std::vector<std::size_t> begins(static_cast<std::size_t>(a.size()));
  for (int r = 0; r < a.size(); ++r) begins[a.place_of(r)] = bytes_of(r);
  std::size_t const all = std::reduce(begins.begin(), begins.end());
  std::exclusive_scan(begins.begin(), begins.end(), begins.begin(), std::size_t{0});
  room ordered = room_of(all);
  std::byte const* from = image.get();
  for (int r = 0; r < a.size(); ++r) {
    std::memcpy(ordered.get() + begins[a.place_of(r)], from, bytes_of(r));
    from += bytes_of(r);
  }
  image = std::move(ordered);
}

/// MPI_Reduce_local() leaves its result in the later operand, so the fold goes along the gathered vectors.
reason in_ranks_order(attachment& a, arguments const& c, datatype const& type, prepared& call) {
  bool const scatters = detail::gets_pieces(c.what);
  auto const piece = [&](int r) { return c.varies ? c.of_ranks.count_of(r) : c.count; };
  MPI_Count length = c.count, before = 0, own = c.count;
  if (scatters) {
    length = 0;
    for (int r = 0; r < a.size(); ++r) {
      if (r == a.rank()) before = length;
      length += piece(r);
    }
    own = piece(a.rank());
  }
  call.what = verb::allgather;
  call.count = static_cast<std::size_t>(length * type.stride);
  call.sent = image_of(c.in != MPI_IN_PLACE ? c.in : c.out, length, type);
  call.in = call.sent.get();
  call.received = room_of(call.count * static_cast<std::size_t>(a.size()));
  call.out = call.received.get();
  int last = a.size() - 1;
  if (detail::is_scan(c.what)) last = detail::is_exclusive(c.what) ? a.rank() - 1 : a.rank();
  if (detail::gets_nothing(c.what, a.rank() == c.root, a.rank() == 0)) return nullptr;
  call.finish = [=, &a, images = call.received.get(), bytes = call.count, to = c.out, by = c.operation] {
    inside const layer;
    auto const image_at = [&](int r) { return images + a.place_of(r) * bytes; };
    for (int r = 1; r <= last; ++r) fold_images(image_at(r - 1), image_at(r), length, type, by);
    copy_image(image_at(last) + before * type.stride, to, own, type);
  };
  return nullptr;
}

}  // namespace coset::interpose
