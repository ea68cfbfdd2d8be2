// SPDX-License-Identifier: Apache-2.0
#include "plan/kinds.hpp"

#include <algorithm>
#include <complex>
#include <cstddef>
#include <typeinfo>
#include <vector>

#include "coset/float16.hpp"
#include "coset/operations.hpp"

namespace coset::planning {
namespace {

template <class...>
struct list {};

using types = list<bool, char, signed char, unsigned char, short, unsigned short, int, unsigned, long, unsigned long,
                   long long, unsigned long long, float16, bfloat16, float, double, long double, std::complex<float>,
                   std::complex<double>, std::byte>;
using operations = list<plus, multiplies, minimum, maximum, bit_and, bit_or, bit_xor, logical_and, logical_or,
                        logical_xor, reproducible_plus>;

struct known {
  std::uint32_t kind;
  kind_names names;
};

/// As detail::table_of() and detail::copy_of() make them.
std::uint32_t upper_half(std::uint64_t hash) { return static_cast<std::uint32_t>(hash >> 32); }

template <class T, class... Operations>
void add(std::vector<known>& to, list<Operations...>) {
  std::uint64_t const type = detail::hash_of(typeid(T).name());
  to.push_back({upper_half(type), {detail::name_of<T>(), "copy"}});
  (to.push_back({upper_half(detail::hash_of(typeid(Operations).name(), type)),
                 {detail::name_of<T>(), detail::name_of<Operations>()}}),
   ...);
}

template <class... Types>
std::vector<known> all_of(list<Types...>) {
  std::vector<known> all;
  (add<Types>(all, operations{}), ...);
  return all;
}

}  // namespace

std::optional<kind_names> names_of(std::uint32_t kind) {
  static std::vector<known> const all = all_of(types{});
  auto const found = std::ranges::find(all, kind, &known::kind);
  if (found == all.end()) return {};
  return found->names;
}

}  // namespace coset::planning
