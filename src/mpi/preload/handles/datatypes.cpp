// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/handles/datatypes.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <vector>

#include "mpi/preload/flights/self.hpp"
#include "mpi/preload/real.hpp"

namespace coset::interpose {
namespace {

/// All predefined ones, found by their handles. Written once, in MPI_Init.
class table {
 public:
  void put(datatype const& one) {
    if (one.handle == MPI_DATATYPE_NULL) return;  // one that this MPI does not have
    datatype& place = at(one.handle);
    if (place.handle == MPI_DATATYPE_NULL) place = one;
  }
  template <class Do>
  void for_each(Do const& what) const {
    for (datatype const& one : of_) {
      if (one.handle != MPI_DATATYPE_NULL) what(one);
    }
  }
  datatype const* find(MPI_Datatype handle) const noexcept {
    datatype const& place = const_cast<table*>(this)->at(handle);
    return place.handle == handle ? &place : nullptr;
  }

 private:
  static constexpr std::size_t places = 256;  // there are some 70

  datatype& at(MPI_Datatype handle) {
    std::size_t place = std::hash<MPI_Datatype>()(handle);
    place ^= (place >> 8) ^ (place >> 20);
    while (of_[place % places].handle != MPI_DATATYPE_NULL && of_[place % places].handle != handle) ++place;
    return of_[place % places];
  }

  std::array<datatype, places> of_;
};

table predefined;
int of_datatypes = MPI_KEYVAL_INVALID;

// Open MPI's own.
#if !defined(OPEN_MPI)
#define MPI_LOGICAL1 MPI_DATATYPE_NULL
#define MPI_LOGICAL2 MPI_DATATYPE_NULL
#define MPI_LOGICAL4 MPI_DATATYPE_NULL
#define MPI_LOGICAL8 MPI_DATATYPE_NULL
#endif

struct named {
  MPI_Datatype handle;
  group of;
};

std::vector<named> const& names() {
  static auto const& all = *new std::vector<named>{
      {MPI_SIGNED_CHAR, group::integer},
      {MPI_UNSIGNED_CHAR, group::integer},
      {MPI_SHORT, group::integer},
      {MPI_UNSIGNED_SHORT, group::integer},
      {MPI_INT, group::integer},
      {MPI_UNSIGNED, group::integer},
      {MPI_LONG, group::integer},
      {MPI_UNSIGNED_LONG, group::integer},
      {MPI_LONG_LONG_INT, group::integer},
      {MPI_UNSIGNED_LONG_LONG, group::integer},
      {MPI_INT8_T, group::integer},
      {MPI_INT16_T, group::integer},
      {MPI_INT32_T, group::integer},
      {MPI_INT64_T, group::integer},
      {MPI_UINT8_T, group::integer},
      {MPI_UINT16_T, group::integer},
      {MPI_UINT32_T, group::integer},
      {MPI_UINT64_T, group::integer},
      {MPI_INTEGER, group::fortran_integer},
      {MPI_INTEGER1, group::fortran_integer},
      {MPI_INTEGER2, group::fortran_integer},
      {MPI_INTEGER4, group::fortran_integer},
      {MPI_INTEGER8, group::fortran_integer},
      {MPI_FLOAT, group::floating},
      {MPI_DOUBLE, group::floating},
      {MPI_LONG_DOUBLE, group::floating},
      {MPI_REAL, group::floating},
      {MPI_DOUBLE_PRECISION, group::floating},
      {MPI_REAL4, group::floating},
      {MPI_REAL8, group::floating},
      {MPI_REAL16, group::floating},
      {MPI_LOGICAL, group::fortran_logical},
      {MPI_LOGICAL1, group::fortran_logical},
      {MPI_LOGICAL2, group::fortran_logical},
      {MPI_LOGICAL4, group::fortran_logical},
      {MPI_LOGICAL8, group::fortran_logical},
      {MPI_C_BOOL, group::logical},
      {MPI_CXX_BOOL, group::logical},
      {MPI_COMPLEX, group::complex},
      {MPI_DOUBLE_COMPLEX, group::complex},
      {MPI_C_COMPLEX, group::complex},
      {MPI_C_FLOAT_COMPLEX, group::complex},
      {MPI_C_DOUBLE_COMPLEX, group::complex},
      {MPI_C_LONG_DOUBLE_COMPLEX, group::complex},
      {MPI_CXX_FLOAT_COMPLEX, group::complex},
      {MPI_CXX_DOUBLE_COMPLEX, group::complex},
      {MPI_CXX_LONG_DOUBLE_COMPLEX, group::complex},
      {MPI_COMPLEX8, group::complex},
      {MPI_COMPLEX16, group::complex},
      {MPI_COMPLEX32, group::complex},
      {MPI_BYTE, group::byte},
      {MPI_AINT, group::multi_language},
      {MPI_OFFSET, group::multi_language},
      {MPI_COUNT, group::multi_language},
      {MPI_FLOAT_INT, group::pair},
      {MPI_DOUBLE_INT, group::pair},
      {MPI_LONG_INT, group::pair},
      {MPI_2INT, group::pair},
      {MPI_SHORT_INT, group::pair},
      {MPI_LONG_DOUBLE_INT, group::pair},
      {MPI_2REAL, group::pair},
      {MPI_2DOUBLE_PRECISION, group::pair},
      {MPI_2INTEGER, group::pair},
      {MPI_CHAR, group::other},
      {MPI_WCHAR, group::other},
      {MPI_CHARACTER, group::other},
      {MPI_PACKED, group::other},
  };
  return all;
}

bool is_unsigned(MPI_Datatype handle) {
  std::array const all = {MPI_UNSIGNED_CHAR, MPI_UNSIGNED_SHORT,     MPI_UNSIGNED,
                          MPI_UNSIGNED_LONG, MPI_UNSIGNED_LONG_LONG, MPI_UINT8_T,
                          MPI_UINT16_T,      MPI_UINT32_T,           MPI_UINT64_T};
  for (MPI_Datatype const one : all) {
    if (handle == one) return true;
  }
  return false;
}

coset_type integer_of(std::size_t size, bool without_sign) {
  switch (size) {
    case 1:
      return without_sign ? COSET_UINT8 : COSET_INT8;
    case 2:
      return without_sign ? COSET_UINT16 : COSET_INT16;
    case 4:
      return without_sign ? COSET_UINT32 : COSET_INT32;
    case 8:
      return without_sign ? COSET_UINT64 : COSET_INT64;
    default:
      return 0;
  }
}

/// C's logical type as unsigned numbers: what is not 0 is true, and 1 comes out. Fortran's, of which compilers make
/// what they like, is left to MPI's own operations, as is what is wider than double.
coset_type native_of(named const& one, std::size_t size) {
  switch (one.of) {
    case group::integer:
    case group::fortran_integer:
    case group::multi_language:
      return integer_of(size, is_unsigned(one.handle));
    case group::byte:
      return COSET_UINT8;
    case group::logical:
      return integer_of(size, true);
    case group::floating:
      return size == 4 ? COSET_FLOAT32 : size == 8 ? COSET_FLOAT64 : 0;
    case group::complex:
      return size == 8 ? COSET_COMPLEX64 : size == 16 ? COSET_COMPLEX128 : 0;
    case group::derived:
    case group::fortran_logical:
    case group::pair:
    case group::other:
      return 0;
  }
  __builtin_unreachable();
}

bool is_row_of_dense(MPI_Datatype handle) {
  int integers, addresses, types, combiner;
  PMPI_Type_get_envelope(handle, &integers, &addresses, &types, &combiner);
  if (types != 1 || integers != 1 || addresses != 0 || combiner != MPI_COMBINER_CONTIGUOUS) return false;
  int count;
  MPI_Aint none;
  MPI_Datatype element;
  PMPI_Type_get_contents(handle, 1, 0, 1, &count, &none, &element);
  if (datatype const* const one = predefined.find(element)) return one->dense;
  PMPI_Type_commit(&element);
  datatype const* const one = known(element);
  bool const is_dense = one != nullptr && one->dense;
  PMPI_Type_free(&element);
  return is_dense;
}

/// Whether packing changes nothing is tried rather than derived from how the type was made: two elements of noise.
/// Of very long ones only those are known that are rows of others.
bool packs_as_it_lies(datatype const& one) {
  if (one.size == 0) return true;
  if (one.lower != 0 || one.extent != static_cast<MPI_Aint>(one.size) || one.span != one.extent) return false;
  constexpr std::size_t most_to_try = 1 << 24;
  if (one.size > most_to_try) return is_row_of_dense(one.handle);
  std::vector<std::uint32_t> noise(2 * one.size / sizeof(std::uint32_t) + 1);
  std::minstd_rand draw;
  for (auto& word : noise) word = static_cast<std::uint32_t>(draw());
  std::vector<char> packed(2 * one.size);
  int position = 0;
  if (PMPI_Pack(noise.data(), 2, one.handle, packed.data(), static_cast<int>(packed.size()), &position, self()) !=
      MPI_SUCCESS) {
    return false;
  }
  return std::memcmp(packed.data(), noise.data(), packed.size()) == 0;
}

/// Only types that have been committed can be sent. This request never is begun, so that nobody reads there.
bool is_committed(MPI_Datatype handle) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (PMPI_Send_init(&request, 1, handle, 0, 0, self(), &request) != MPI_SUCCESS) return false;
  PMPI_Request_free(&request);
  return true;
}

datatype measured(MPI_Datatype handle, group of) {
  datatype one{.handle = handle, .of = of};
  MPI_Count size = 0;
  PMPI_Type_size_x(handle, &size);
  MPI_Aint lower_bound = 0;
  PMPI_Type_get_extent(handle, &lower_bound, &one.extent);
  PMPI_Type_get_true_extent(handle, &one.lower, &one.span);
  one.size = static_cast<std::size_t>(size);
  constexpr MPI_Aint alignment = alignof(std::max_align_t);
  one.stride = one.span <= one.extent ? one.extent : (one.span + alignment - 1) / alignment * alignment;
  return one;
}

int forget(MPI_Datatype, int, void* kept, void*) {
  delete static_cast<datatype const*>(kept);
  return MPI_SUCCESS;
}

/// Several threads may use a new type at once, for which MPI keeps one attribute.
datatype const* derived(MPI_Datatype handle) noexcept {
  static std::recursive_mutex learning;
  std::lock_guard const lock(learning);
  void* kept = nullptr;
  int is_known = 0;
  if (PMPI_Type_get_attr(handle, of_datatypes, static_cast<void*>(&kept), &is_known) != MPI_SUCCESS) return nullptr;
  if (is_known != 0) return static_cast<datatype const*>(kept);
  if (!is_committed(handle)) return nullptr;
  auto one = std::make_unique<datatype>(measured(handle, group::derived));
  one->dense = packs_as_it_lies(*one);
  constexpr std::size_t most_packed = 1 << 30;  // MPI_Pack() counts bytes in ints
  one->too_long = !one->dense && one->size > most_packed;
  if (PMPI_Type_set_attr(handle, of_datatypes, one.get()) != MPI_SUCCESS) return nullptr;
  return one.release();
}

}  // namespace

datatype const* known(MPI_Datatype handle) noexcept {
  if (handle == MPI_DATATYPE_NULL) return nullptr;
  datatype const* const one = predefined.find(handle);
  return one != nullptr ? one : derived(handle);
}

bool is_predefined(MPI_Datatype handle) noexcept { return predefined.find(handle) != nullptr; }

void for_each_predefined(std::function<void(datatype const&)> const& what) { predefined.for_each(what); }

void learn_datatypes() {
  if (of_datatypes != MPI_KEYVAL_INVALID) return;
  PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &of_datatypes, nullptr);
  for (named const& name : names()) {
    if (name.handle == MPI_DATATYPE_NULL) continue;
    datatype one = measured(name.handle, name.of);
    one.native = native_of(name, one.size);
    one.dense = name.handle != MPI_PACKED && one.extent == static_cast<MPI_Aint>(one.size);
    predefined.put(one);
  }
}

void forget_datatypes() noexcept {
  if (of_datatypes != MPI_KEYVAL_INVALID) PMPI_Type_free_keyval(&of_datatypes);
}

}  // namespace coset::interpose
