// SPDX-License-Identifier: Apache-2.0
#include "mpi/interpose/packing.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/interpose/real.hpp"

namespace coset::interpose {
namespace {

/// MPI counts packed bytes in ints.
MPI_Count elements_at_once(datatype const& type) {
  constexpr MPI_Count most_bytes = 1 << 30;
  return std::max<MPI_Count>(most_bytes / static_cast<MPI_Count>(std::max<std::size_t>(type.size, 1)), 1);
}

/// Calls with the first of so many elements as can be packed at once, and how many they are.
template <class Do>
void by_parts(MPI_Count count, datatype const& type, Do const& each) {
  MPI_Count const most = elements_at_once(type);
  for (MPI_Count done = 0; done < count; done += most) each(done, static_cast<int>(std::min(most, count - done)));
}

std::byte const* element(void const* base, MPI_Count number, datatype const& type) {
  return static_cast<std::byte const*>(base) + number * type.extent;
}
std::byte* element(void* base, MPI_Count number, datatype const& type) {
  return static_cast<std::byte*>(base) + number * type.extent;
}

int packed_bytes(int count, datatype const& type) {
  return static_cast<int>(static_cast<std::size_t>(count) * type.size);
}

/// Elements of an image begin `stride` apart, but MPI's elements `extent`.
template <class Do>
void by_images(MPI_Count count, datatype const& type, Do const& each) {
  if (type.stride == type.extent) {
    each(MPI_Count{0}, count);
  } else {
    for (MPI_Count i = 0; i < count; ++i) each(i, MPI_Count{1});
  }
}

}  // namespace

room room_of(std::size_t bytes) { return std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1)); }

void pack(void const* from, MPI_Count count, datatype const& type, std::byte* to) {
  inside const layer;
  by_parts(count, type, [&](MPI_Count first, int some) {
    int position = 0;
    PMPI_Pack(element(from, first, type), some, type.handle, to + static_cast<std::size_t>(first) * type.size,
              packed_bytes(some, type), &position, MPI_COMM_SELF);
  });
}

void unpack(std::byte const* from, void* to, MPI_Count count, datatype const& type) {
  inside const layer;
  by_parts(count, type, [&](MPI_Count first, int some) {
    int position = 0;
    PMPI_Unpack(from + static_cast<std::size_t>(first) * type.size, packed_bytes(some, type), &position,
                element(to, first, type), some, type.handle, MPI_COMM_SELF);
  });
}

bool is_image(datatype const& type) {
  return type.lower == 0 && type.stride == type.extent && (type.of != group::derived || type.dense);
}

room image_of(void const* from, MPI_Count count, datatype const& type) {
  room image = room_of(static_cast<std::size_t>(count * type.stride));
  if (is_image(type)) {
    std::memcpy(image.get(), from, static_cast<std::size_t>(count * type.stride));
    return image;
  }
  std::memset(image.get(), 0, static_cast<std::size_t>(count * type.stride));
  room const packed = room_of(static_cast<std::size_t>(count) * type.size);
  pack(from, count, type, packed.get());
  by_images(count, type, [&](MPI_Count first, MPI_Count some) {
    unpack(packed.get() + static_cast<std::size_t>(first) * type.size, image.get() + first * type.stride - type.lower,
           some, type);
  });
  return image;
}

void copy_image(std::byte const* image, void* to, MPI_Count count, datatype const& type) {
  if (is_image(type)) {
    std::memcpy(to, image, static_cast<std::size_t>(count * type.stride));
    return;
  }
  room const packed = room_of(static_cast<std::size_t>(count) * type.size);
  by_images(count, type, [&](MPI_Count first, MPI_Count some) {
    pack(image + first * type.stride - type.lower, some, type,
         packed.get() + static_cast<std::size_t>(first) * type.size);
  });
  unpack(packed.get(), to, count, type);
}

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
prospect in_ranks_order(attachment& a, arguments const& c, datatype const& type) {
  bool const scatters = c.what == verb::reduce_scatter || c.what == verb::reduce_scatter_block;
  auto const piece = [&](int r) { return c.what == verb::reduce_scatter ? c.count_of(r) : c.count; };
  MPI_Count length = c.count, before = 0, own = c.count;
  if (scatters) {
    length = 0;
    for (int r = 0; r < a.size(); ++r) {
      if (r == a.rank()) before = length;
      length += piece(r);
    }
    own = piece(a.rank());
  }
  prospect made;
  prepared& call = made.call;
  call.what = verb::allgather;
  call.count = static_cast<std::size_t>(length * type.stride);
  call.sent = image_of(c.in != MPI_IN_PLACE ? c.in : c.out, length, type);
  call.in = call.sent.get();
  call.received = room_of(call.count * static_cast<std::size_t>(a.size()));
  call.out = call.received.get();
  int last = a.size() - 1;
  if (c.what == verb::scan) last = a.rank();
  if (c.what == verb::exclusive_scan) last = a.rank() - 1;
  if (last < 0 || (c.what == verb::reduce && a.rank() != c.root)) return made;
  call.finish = [=, &a, images = call.received.get(), bytes = call.count, to = c.out, by = c.operation] {
    inside const layer;
    auto const image_at = [&](int r) { return images + a.place_of(r) * bytes; };
    for (int r = 1; r <= last; ++r) {
      by_images(length, type, [&](MPI_Count first, MPI_Count some) {
        by_parts(some, type, [&](MPI_Count in_these, int few) {
          MPI_Aint const at = (first + in_these) * type.stride - type.lower;
          PMPI_Reduce_local(image_at(r - 1) + at, image_at(r) + at, few, type.handle, by);
        });
      });
    }
    copy_image(image_at(last) + before * type.stride, to, own, type);
  };
  return made;
}

}  // namespace coset::interpose
