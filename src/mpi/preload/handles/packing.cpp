// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/handles/packing.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "mpi/preload/flights/self.hpp"
#include "mpi/preload/real.hpp"

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

void send_to_self(void const* from, int count, MPI_Datatype type, void* to, int out_count, MPI_Datatype out_type) {
  int const tag = take_tag();
  PMPI_Sendrecv(from, count, type, 0, tag, to, out_count, out_type, 0, tag, self(), MPI_STATUS_IGNORE);
  give_back_tag(tag);
}

}  // namespace

room room_of(std::size_t bytes) { return std::make_unique_for_overwrite<std::byte[]>(std::max<std::size_t>(bytes, 1)); }

/// MPI_BOTTOM is no address at which MPICH packs, but one that it sends from: a message of this process to itself.
void pack(void const* from, MPI_Count count, datatype const& type, std::byte* to) {
  inside const layer;
  by_parts(count, type, [&](MPI_Count first, int some) {
    std::byte* const there = to + static_cast<std::size_t>(first) * type.size;
    void const* const these = element(from, first, type);
    int const bytes = packed_bytes(some, type);
    int position = 0;
    if (from == MPI_BOTTOM)
      send_to_self(these, some, type.handle, there, bytes, MPI_PACKED);
    else
      PMPI_Pack(these, some, type.handle, there, bytes, &position, self());
  });
}

void unpack(std::byte const* from, void* to, MPI_Count count, datatype const& type) {
  inside const layer;
  by_parts(count, type, [&](MPI_Count first, int some) {
    std::byte const* const there = from + static_cast<std::size_t>(first) * type.size;
    void* const these = element(to, first, type);
    int const bytes = packed_bytes(some, type);
    int position = 0;
    if (to == MPI_BOTTOM)
      send_to_self(there, bytes, MPI_PACKED, these, some, type.handle);
    else
      PMPI_Unpack(there, bytes, &position, these, some, type.handle, self());
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

void fold_images(std::byte const* in, std::byte* inout, MPI_Count count, datatype const& type, MPI_Op by) {
  inside const layer;
  by_images(count, type, [&](MPI_Count first, MPI_Count some) {
    by_parts(some, type, [&](MPI_Count in_these, int few) {
      MPI_Aint const at = (first + in_these) * type.stride - type.lower;
      PMPI_Reduce_local(in + at, inout + at, few, type.handle, by);
    });
  });
}

}  // namespace coset::interpose
