// SPDX-License-Identifier: Apache-2.0
// The bits of results are those of every other machine: digests of reductions of every type by every operation, beside
// those stored in digests.txt. COSET_DIGESTS=FILE writes such a file.
#include <complex>
#include <cstdio>
#include <fstream>
#include <iterator>

#include "numa/child.hpp"
#include "runtime/kernels/kernels.hpp"
#include "support/bits.hpp"
#include "support/teams.hpp"

namespace coset::team_test {
namespace {

constexpr rank_t ranks = 5;
constexpr std::size_t count = 333;

template <class T>
struct make_value {
  static T of(rank_t rank, std::size_t index) { return adversarial<T>(rank, index); }
};
template <std::integral T>
struct make_value<T> {
  static T of(rank_t rank, std::size_t index) { return static_cast<T>(scrambled(rank, index)); }
};
template <class T>
struct make_value<std::complex<T>> {
  static std::complex<T> of(rank_t rank, std::size_t index) {
    return {adversarial<T>(rank, index), adversarial<T>(rank + ranks, index / 3)};
  }
};
template <class T>
struct make_value<located<T>> {
  static located<T> of(rank_t rank, std::size_t index) {
    return {adversarial<T>(rank % 2, index), static_cast<std::int64_t>(scrambled(rank, index) >> 1)};
  }
};

/// A value's parts, without what may lie between them.
template <class T>
std::array<T, 1> parts_of(T const& value) {
  return {value};
}
template <class T>
std::array<T, 2> parts_of(std::complex<T> const& value) {
  return {value.real(), value.imag()};
}
template <class T>
std::array<std::uint64_t, 2> parts_of(located<T> const& value) {
  return {bits_of(value.value, nans::by_bits), static_cast<std::uint64_t>(value.index)};
}

class digests {
 public:
  template <class T, class Op>
  void add(std::string const& type, std::string const& operation) {
    for (auto const what : {verb::allreduce, verb::scan}) {
      for (std::string const algorithm : {"direct", "generalized", "binomial", "ring"}) {
        std::string const name = type + " " + operation + " " + std::string(name_of(what)) + " " + algorithm;
        try {
          lines_ += name + " " + digest(make_plan<T>(team_, what, count, Op{}, {.algorithm = algorithm})) + "\n";
        } catch (schedule_error const&) {  // no algorithm of this verb
        }
      }
    }
  }

  std::string const& lines() const { return lines_; }

 private:
  template <class T, class Op>
  std::string digest(plan<T, Op> const& how) {
    std::array<std::uint64_t, ranks> of_rank{};
    team_.run([&](member& me) {
      std::vector<T> in(count), out(count);
      for (std::size_t i = 0; i < count; ++i) in[i] = make_value<T>::of(me.rank(), i);
      how.execute(me, in, out);
      std::uint64_t hash = 0;
      for (T const& value : out) {
        auto const parts = parts_of(value);
        hash = hash * 31 + hash_of<typename decltype(parts)::value_type>(parts, nans_of<Op>);
      }
      of_rank[me.rank()] = hash;
    });
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx",
                  static_cast<unsigned long long>(hash_of<std::uint64_t>(of_rank)));
    return text.data();
  }

  team team_{options_for(ranks)};
  std::string lines_;
};

template <class T>
void add_number(digests& all, std::string const& type) {
  all.add<T, plus>(type, "plus");
  all.add<T, multiplies>(type, "multiplies");
  all.add<T, minimum>(type, "minimum");
  all.add<T, maximum>(type, "maximum");
}

template <class T>
void add_integer(digests& all, std::string const& type) {
  add_number<T>(all, type);
  all.add<T, bit_and>(type, "bit_and");
  all.add<T, bit_or>(type, "bit_or");
  all.add<T, bit_xor>(type, "bit_xor");
  all.add<T, logical_and>(type, "logical_and");
  all.add<T, logical_xor>(type, "logical_xor");
}

std::string all_digests() {
  digests all;
  add_integer<std::int8_t>(all, "int8");
  add_integer<std::int16_t>(all, "int16");
  add_integer<std::int32_t>(all, "int32");
  add_integer<std::int64_t>(all, "int64");
  add_integer<std::uint8_t>(all, "uint8");
  add_integer<std::uint16_t>(all, "uint16");
  add_integer<std::uint32_t>(all, "uint32");
  add_integer<std::uint64_t>(all, "uint64");
  add_number<float16>(all, "float16");
  add_number<bfloat16>(all, "bfloat16");
  add_number<float>(all, "float");
  add_number<double>(all, "double");
  all.add<float, reproducible_plus>("float", "reproducible_plus");
  all.add<double, reproducible_plus>("double", "reproducible_plus");
  all.add<std::complex<float>, plus>("complex64", "plus");
  all.add<std::complex<float>, multiplies>("complex64", "multiplies");
  all.add<std::complex<double>, plus>("complex128", "plus");
  all.add<std::complex<double>, multiplies>("complex128", "multiplies");
  all.add<located<float>, minimum_location>("located_float", "minimum_location");
  all.add<located<float>, maximum_location>("located_float", "maximum_location");
  all.add<located<double>, minimum_location>("located_double", "minimum_location");
  all.add<located<double>, maximum_location>("located_double", "maximum_location");
  return all.lines();
}

/// Prints the lines that differ.
bool are_as_stored(std::string const& found) {
  std::ifstream file(COSET_STORED_DIGESTS);
  std::string const stored(std::istreambuf_iterator<char>(file), {});
  std::istringstream of_file(stored), of_machine(found);
  for (std::string line, mine; std::getline(of_machine, mine);) {
    line.clear();
    std::getline(of_file, line);
    if (line != mine) std::fprintf(stderr, "stored: %s\nhere:   %s\n", line.c_str(), mine.c_str());
  }
  return found == stored;
}

/// A process chooses its instruction set once, so each has one of its own.
TEST(Digests, AreThoseOfOtherMachinesUnderEveryInstructionSet) {
  for (auto const& set : kernels::instruction_sets()) {
    EXPECT_TRUE(numa_test::in_child([&] {
      kernels::force_instruction_set(set);
      std::string const found = all_digests();
      if (char const* const path = std::getenv("COSET_DIGESTS")) std::ofstream(path) << found;
      return are_as_stored(found);
    })) << set;
  }
}

}  // namespace
}  // namespace coset::team_test
