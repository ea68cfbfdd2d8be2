// SPDX-License-Identifier: Apache-2.0
#include "elements.hpp"

#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <type_traits>

namespace coset::interpose_test {
namespace {

template <class Value, class Index>
struct pair_of {
  Value value;
  Index index;
};

template <class T>
struct is_pair : std::false_type {};
template <class Value, class Index>
struct is_pair<pair_of<Value, Index>> : std::true_type {};
template <class T>
struct is_complex : std::false_type {};
template <class T>
struct is_complex<std::complex<T>> : std::true_type {};

template <class T>
T drawn(std::mt19937& random) {
  if constexpr (is_pair<T>::value) {
    using value = decltype(T::value);
    using index = decltype(T::index);
    // Few values, so that several ranks have the extreme one and the lowest index decides.
    return {static_cast<value>(random() % 3), static_cast<index>(random() % 5)};
  } else if constexpr (is_complex<T>::value) {
    using part = typename T::value_type;
    return {drawn<part>(random), drawn<part>(random)};
  } else if constexpr (std::is_floating_point_v<T>) {
    constexpr std::array values = {-2.0, -1.0, -0.5, 0.5, 1.0, 1.0};
    return static_cast<T>(values[random() % values.size()]);
  } else if constexpr (std::is_same_v<T, bool>) {
    return random() % 4 != 0;
  } else {
    return static_cast<T>(static_cast<int>(random() % 4) - (std::is_signed_v<T> ? 1 : 0));
  }
}

template <class T>
bool are_same(std::byte const* a, std::byte const* b) {
  if constexpr (std::is_same_v<T, bool>) return *a == *b;
  T left, right;
  std::memcpy(static_cast<void*>(&left), a, sizeof(T));
  std::memcpy(static_cast<void*>(&right), b, sizeof(T));
  if constexpr (is_pair<T>::value)
    return left.value == right.value && left.index == right.index;
  else
    return left == right;
}

template <class T>
element made(MPI_Datatype type, char const* name, group of) {
  return {type,
          name,
          of,
          sizeof(T),
          [](std::byte* at, std::mt19937& random) {
            T const value = drawn<T>(random);
            std::memcpy(at, static_cast<void const*>(&value), sizeof(T));
          },
          are_same<T>};
}

/// Of Fortran's types this is MPI's to say.
element made_by_size(MPI_Datatype type, char const* name, group of) {
  int size = 0;
  MPI_Type_size(type, &size);
  bool const is_whole = of == group::fortran_integer || of == group::logical;
  switch (size) {
    case 1:
      return made<std::int8_t>(type, name, of);
    case 2:
      return made<std::int16_t>(type, name, of);
    case 4:
      return is_whole ? made<std::int32_t>(type, name, of) : made<float>(type, name, of);
    case 8:
      if (of == group::complex) return made<std::complex<float>>(type, name, of);
      return is_whole ? made<std::int64_t>(type, name, of) : made<double>(type, name, of);
    case 16:
      if (of == group::complex) return made<std::complex<double>>(type, name, of);
      return made<long double>(type, name, of);
    default:
      return made<std::complex<long double>>(type, name, of);
  }
}

/// A logical value of Fortran: what the compiler makes of .true. and .false.
element made_logical(MPI_Datatype type, char const* name) {
  element one = made_by_size(type, name, group::logical);
  one.draw = [](std::byte* at, std::mt19937& random) {
    std::int32_t const value = static_cast<std::int32_t>(random() % 2);
    std::memcpy(at, &value, sizeof(value));
  };
  return one;
}

using one_of_each = std::vector<element>;

void add(one_of_each& all, element (*make)(MPI_Datatype, char const*, group), MPI_Datatype type, char const* name,
         group of) {
  if (type != MPI_DATATYPE_NULL) all.push_back(make(type, name, of));
}

#define ADD(T, type, of) add(all, made<T>, type, #type, group::of)
#define ADD_BY_SIZE(type, of) add(all, made_by_size, type, #type, group::of)

/// Open MPI 4.1.4 takes the extremes of offsets as if they had no sign.
element made_offset() {
  element one = made<MPI_Offset>(MPI_OFFSET, "MPI_OFFSET", group::multi_language);
  one.draw = [](std::byte* at, std::mt19937& random) {
    MPI_Offset const value = random() % 4;
    std::memcpy(at, &value, sizeof(value));
  };
  return one;
}

one_of_each of_c() {
  one_of_each all;
  ADD(signed char, MPI_SIGNED_CHAR, integer);
  ADD(unsigned char, MPI_UNSIGNED_CHAR, integer);
  ADD(short, MPI_SHORT, integer);
  ADD(unsigned short, MPI_UNSIGNED_SHORT, integer);
  ADD(int, MPI_INT, integer);
  ADD(unsigned, MPI_UNSIGNED, integer);
  ADD(long, MPI_LONG, integer);
  ADD(unsigned long, MPI_UNSIGNED_LONG, integer);
  ADD(long long, MPI_LONG_LONG_INT, integer);
  ADD(unsigned long long, MPI_UNSIGNED_LONG_LONG, integer);
  ADD(std::int8_t, MPI_INT8_T, integer);
  ADD(std::int16_t, MPI_INT16_T, integer);
  ADD(std::int32_t, MPI_INT32_T, integer);
  ADD(std::int64_t, MPI_INT64_T, integer);
  ADD(std::uint8_t, MPI_UINT8_T, integer);
  ADD(std::uint16_t, MPI_UINT16_T, integer);
  ADD(std::uint32_t, MPI_UINT32_T, integer);
  ADD(std::uint64_t, MPI_UINT64_T, integer);
  ADD(float, MPI_FLOAT, floating);
  ADD(double, MPI_DOUBLE, floating);
  ADD(long double, MPI_LONG_DOUBLE, floating);
  ADD(bool, MPI_C_BOOL, logical);
  ADD(std::complex<float>, MPI_C_COMPLEX, complex);
  ADD(std::complex<float>, MPI_C_FLOAT_COMPLEX, complex);
  ADD(std::complex<double>, MPI_C_DOUBLE_COMPLEX, complex);
  ADD(std::complex<long double>, MPI_C_LONG_DOUBLE_COMPLEX, complex);
  ADD(bool, MPI_CXX_BOOL, logical);
  ADD(std::complex<float>, MPI_CXX_FLOAT_COMPLEX, complex);
  ADD(std::complex<double>, MPI_CXX_DOUBLE_COMPLEX, complex);
  ADD(std::complex<long double>, MPI_CXX_LONG_DOUBLE_COMPLEX, complex);
  ADD(std::uint8_t, MPI_BYTE, byte);
  ADD(MPI_Aint, MPI_AINT, multi_language);
  all.push_back(made_offset());
  ADD(MPI_Count, MPI_COUNT, multi_language);
  using float_int = pair_of<float, int>;
  using double_int = pair_of<double, int>;
  using long_int = pair_of<long, int>;
  using int_int = pair_of<int, int>;
  using short_int = pair_of<short, int>;
  using long_double_int = pair_of<long double, int>;
  ADD(float_int, MPI_FLOAT_INT, pair);
  ADD(double_int, MPI_DOUBLE_INT, pair);
  ADD(long_int, MPI_LONG_INT, pair);
  ADD(int_int, MPI_2INT, pair);
  ADD(short_int, MPI_SHORT_INT, pair);
  ADD(long_double_int, MPI_LONG_DOUBLE_INT, pair);
  ADD(char, MPI_CHAR, moved_only);
  ADD(wchar_t, MPI_WCHAR, moved_only);
  return all;
}

one_of_each of_fortran() {
  one_of_each all;
  ADD_BY_SIZE(MPI_INTEGER, fortran_integer);
  ADD_BY_SIZE(MPI_INTEGER1, fortran_integer);
  ADD_BY_SIZE(MPI_INTEGER2, fortran_integer);
  ADD_BY_SIZE(MPI_INTEGER4, fortran_integer);
  ADD_BY_SIZE(MPI_INTEGER8, fortran_integer);
  ADD_BY_SIZE(MPI_REAL, floating);
  ADD_BY_SIZE(MPI_DOUBLE_PRECISION, floating);
  ADD_BY_SIZE(MPI_REAL4, floating);
  ADD_BY_SIZE(MPI_REAL8, floating);
  ADD_BY_SIZE(MPI_COMPLEX, complex);
  ADD_BY_SIZE(MPI_DOUBLE_COMPLEX, complex);
  ADD_BY_SIZE(MPI_COMPLEX8, complex);
  ADD_BY_SIZE(MPI_COMPLEX16, complex);
  if (MPI_LOGICAL != MPI_DATATYPE_NULL) all.push_back(made_logical(MPI_LOGICAL, "MPI_LOGICAL"));
  using two_reals = pair_of<float, float>;
  using two_doubles = pair_of<double, double>;
  using two_integers = pair_of<int, int>;
  ADD(two_reals, MPI_2REAL, pair);
  ADD(two_doubles, MPI_2DOUBLE_PRECISION, pair);
  ADD(two_integers, MPI_2INTEGER, pair);
  ADD(char, MPI_CHARACTER, moved_only);
  return all;
}

#undef ADD
#undef ADD_BY_SIZE

std::vector<operation> defined_for(group of) {
  std::vector<operation> all;
  auto const add_all = [&](std::initializer_list<operation> some) { all.insert(all.end(), some); };
  bool const whole = of == group::integer || of == group::fortran_integer || of == group::multi_language;
  if (whole || of == group::floating) add_all({{MPI_MIN, "MPI_MIN"}, {MPI_MAX, "MPI_MAX"}});
  if (whole || of == group::floating || of == group::complex) add_all({{MPI_SUM, "MPI_SUM"}, {MPI_PROD, "MPI_PROD"}});
  if (of == group::integer || of == group::logical)
    add_all({{MPI_LAND, "MPI_LAND"}, {MPI_LOR, "MPI_LOR"}, {MPI_LXOR, "MPI_LXOR"}});
  if (whole || of == group::byte) add_all({{MPI_BAND, "MPI_BAND"}, {MPI_BOR, "MPI_BOR"}, {MPI_BXOR, "MPI_BXOR"}});
  if (of == group::pair) add_all({{MPI_MINLOC, "MPI_MINLOC"}, {MPI_MAXLOC, "MPI_MAXLOC"}});
  return all;
}

bool this_mpi_carries_out(MPI_Op by, element const& of) {
  array in(of, 1), inout(of, 1);
  MPI_Errhandler before;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  bool const does = MPI_Reduce_local(in.data(), inout.data(), 1, of.type, by) == MPI_SUCCESS;
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, before);
  MPI_Errhandler_free(&before);
  return does;
}

}  // namespace

std::vector<element> const& elements() {
  static one_of_each const all = [] {
    one_of_each of_both = of_c();
    one_of_each const others = of_fortran();
    of_both.insert(of_both.end(), others.begin(), others.end());
    return of_both;
  }();
  return all;
}

std::vector<operation> operations_for(element const& of) {
  std::vector<operation> all = defined_for(of.of);
  std::erase_if(all, [&](operation const& one) { return !this_mpi_carries_out(one.handle, of); });
  return all;
}

constexpr std::byte untouched{0xa5};

array::array(element const& of, std::size_t count)
    : of_(&of), count_(count), bytes_(2 * guard + count * of.size, untouched) {}

void array::draw(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::mt19937::result_type>(seed));
  for (std::size_t i = 0; i < count_; ++i) of_->draw(at(i), random);
}

std::string array::difference(array const& expected) const {
  for (std::size_t i = 0; i < count_; ++i) {
    // What nobody should have written has no value.
    bool const is_same = std::memcmp(at(i), expected.at(i), of_->size) == 0 || of_->same(at(i), expected.at(i));
    if (!is_same) return "element " + std::to_string(i) + " of " + std::to_string(count_) + " is wrong";
  }
  auto const is_untouched = [](std::byte one) { return one == untouched; };
  bool const before = std::all_of(bytes_.begin(), bytes_.begin() + guard, is_untouched);
  bool const after = std::all_of(bytes_.end() - guard, bytes_.end(), is_untouched);
  return before && after ? "" : "bytes beside it were written";
}

}  // namespace coset::interpose_test
