// SPDX-License-Identifier: Apache-2.0
// Every fold of every instruction set that this machine can run, against plain loops.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>

#include "effort.hpp"
#include "kernels/reference.hpp"
#include "runtime/kernels/processor.hpp"

namespace coset::kernels::test {
namespace {

enum class stores { cached, streaming };
using parameters = std::tuple<std::string, operation, element, stores>;

constexpr std::uint32_t most_sources = 20;
constexpr std::uint32_t most_destinations = 3;
constexpr std::size_t longest_vector_bytes = 64;
constexpr std::size_t guard_bytes = 128;
constexpr unsigned char untouched = 0xA5;

bool is_often_used(element type) {
  return type == element::int32 || type == element::int64 || type == element::float32 || type == element::float64;
}

/// `count` elements that start `shift` elements after a cache line, guarded on both sides.
template <class T>
class guarded_array {
 public:
  guarded_array(std::size_t count, std::size_t shift)
      : count_(count), bytes_(2 * guard_bytes + 64 + (shift + count) * sizeof(T), untouched) {
    auto const address = reinterpret_cast<std::uintptr_t>(bytes_.data()) + guard_bytes;
    first_ = guard_bytes + (0 - address) % 64 + shift * sizeof(T);
  }
  guarded_array(std::vector<T> const& values, std::size_t shift) : guarded_array(values.size(), shift) {
    std::copy(values.begin(), values.end(), data());
  }
  T* data() { return reinterpret_cast<T*>(bytes_.data() + first_); }
  bool still_holds(std::vector<T> const& values) const {
    auto const* const bytes = reinterpret_cast<unsigned char const*>(values.data());
    return std::equal(bytes, bytes + values.size() * sizeof(T), bytes_.data() + first_);
  }
  bool guards_untouched() const {
    std::size_t const end = first_ + count_ * sizeof(T);
    return is_untouched(bytes_.data(), first_) && is_untouched(bytes_.data() + end, bytes_.size() - end);
  }

 private:
  static bool is_untouched(unsigned char const* bytes, std::size_t count) {
    return bytes[0] == untouched && std::equal(bytes, bytes + count - 1, bytes + 1);
  }

  std::size_t count_;
  std::vector<unsigned char> bytes_;
  std::size_t first_;
};

class Folds : public testing::TestWithParam<parameters> {
 protected:
  void SetUp() override { force_instruction_set(std::get<0>(GetParam())); }
  void TearDown() override {
    force_instruction_set(instruction_sets().front());
    copies_by_strings = strings_here_;
  }

  static operation op() { return std::get<1>(GetParam()); }
  static element type() { return std::get<2>(GetParam()); }
  static detail::fold_set const& set() {
    return std::get<3>(GetParam()) == stores::cached ? find(op(), type()) : *find_streaming(op(), type());
  }

  bool const strings_here_ = copies_by_strings;

  /// Numbers of sources: all that may have code of their own.
  static std::vector<std::uint32_t> numbers_of_sources() {
    if (!is_often_used(type())) return {1, 2, 3, 4, 5, 9, 17};
    if (coset::test::wanted_effort() == coset::test::effort::small) return {1, 2, 3, 8, 9, 17, most_sources};
    std::vector<std::uint32_t> all(most_sources);
    std::iota(all.begin(), all.end(), 1);
    return all;
  }

  static std::vector<std::size_t> shifts() {
    return coset::test::by_effort<std::vector<std::size_t>>({1}, {0, 1, 7}, {0, 1, 7});
  }

  /// Random values of the type, drawn once; of a prime length, so that sources that begin anywhere in it differ.
  template <class T>
  static std::vector<T> const& pool() {
    static auto const drawn = [] {
      std::mt19937_64 random(1);
      std::vector<T> values(7919);
      std::generate(values.begin(), values.end(), [&] { return random_value<T>(random); });
      return values;
    }();
    return drawn;
  }

  template <class T>
  static std::vector<std::vector<T>> random_sources(std::uint32_t sources, std::size_t count) {
    std::vector<std::vector<T>> values;
    std::size_t begin = sources * 1000 + count;
    for (std::uint32_t k = 0; k < sources; ++k, begin += 1009) {
      begin %= pool<T>().size() - count;
      auto const first = pool<T>().begin() + static_cast<std::ptrdiff_t>(begin);
      values.emplace_back(first, first + static_cast<std::ptrdiff_t>(count));
    }
    return values;
  }

  template <class T>
  static void expect_same(guarded_array<T>& got, std::vector<T> const& expected, std::string const& where) {
    bool const alike = got.still_holds(expected);  // nearly always, and soon known
    for (std::size_t i = 0; !alike && i < expected.size(); ++i) {
      ASSERT_TRUE(same(op(), got.data()[i], expected[i]))
          << where << ", element " << i << " of " << expected.size() << ": " << testing::PrintToString(got.data()[i])
          << ", not " << testing::PrintToString(expected[i]);
    }
    ASSERT_TRUE(got.guards_untouched()) << where << ", count " << expected.size();
  }

  /// Sources and destinations `shift` elements into cache lines; destination k `k · spread` elements further.
  template <class T>
  static void check(std::vector<std::vector<T>> const& values, std::vector<T> const& expected,
                    std::uint32_t destinations, std::size_t shift, std::size_t spread) {
    auto const sources = static_cast<std::uint32_t>(values.size());
    std::size_t const count = values[0].size();
    std::vector<guarded_array<T>> inputs, outputs;
    std::vector<void const*> from;
    std::vector<void*> to;
    for (std::uint32_t k = 0; k < sources; ++k) inputs.emplace_back(values[k], shift + k);
    for (std::uint32_t k = 0; k < destinations; ++k) outputs.emplace_back(count, shift + k * spread);
    for (auto& input : inputs) from.push_back(input.data());
    for (auto& output : outputs) to.push_back(output.data());

    set().for_sources(sources)(nullptr, to.data(), destinations, from.data(), sources, count);

    std::string const where = std::to_string(sources) + " sources, " + std::to_string(destinations) +
                              " destinations, shift " + std::to_string(shift);
    for (auto& output : outputs) ASSERT_NO_FATAL_FAILURE(expect_same(output, expected, where));
    for (std::uint32_t k = 0; k < sources; ++k) {
      ASSERT_TRUE(inputs[k].still_holds(values[k])) << where << ": source " << k;
    }
  }
};

TEST_P(Folds, AreThoseOfAPlainLoopAtEverySmallLength) {
  for_type(type(), []<class T>(T) {
    std::size_t const step = sizeof(T) > 2 ? 1 : coset::test::by_effort<std::size_t>(5, 1, 1);  // of all remainders
    for (std::uint32_t const sources : numbers_of_sources()) {
      for (std::size_t count = 0; count <= 2 * longest_vector_bytes / sizeof(T) + 1; count += step) {
        auto const values = random_sources<T>(sources, count);
        auto const expected = fold(op(), values, sources);
        for (std::uint32_t destinations = 1; destinations <= most_destinations; ++destinations) {
          for (std::size_t const shift : shifts())
            ASSERT_NO_FATAL_FAILURE(check(values, expected, destinations, shift, 0));
          ASSERT_NO_FATAL_FAILURE(check(values, expected, destinations, 3, 1));
        }
      }
    }
  });
}

TEST_P(Folds, AreThoseOfAPlainLoopAtLengthsBeyondATile) {
  for_type(type(), []<class T>(T) {
    using list = std::vector<std::uint32_t>;
    list const all{1, 2, 4, 8, 9, 15, 16, 20}, few{2, 9, 16, 20}, lengths{511, 1024, 1025, 2500}, two{1024, 2500};
    for (std::uint32_t const sources : coset::test::by_effort(few, all, all)) {
      for (std::size_t const count : coset::test::by_effort(two, lengths, lengths)) {
        auto const values = random_sources<T>(sources, count);
        auto const expected = fold(op(), values, sources);
        for (std::uint32_t destinations = 1; destinations <= most_destinations; ++destinations) {
          ASSERT_NO_FATAL_FAILURE(check(values, expected, destinations, 1, 0));
          ASSERT_NO_FATAL_FAILURE(check(values, expected, destinations, 0, 5));
        }
      }
    }
  });
}

/// Whichever way the processor is said to copy faster; in place, and back to where it comes from, too.
TEST_P(Folds, OfOneSourceCopyItByStringsAndByVectors) {
  for (bool const strings : {false, true}) {
    copies_by_strings = strings;
    for_type(type(), []<class T>(T) {
      for (std::size_t const bytes : {2048, 2112, 5000}) {
        std::size_t const count = bytes / sizeof(T);
        auto const values = random_sources<T>(1, count);
        for (std::uint32_t destinations = 1; destinations <= 2; ++destinations)
          ASSERT_NO_FATAL_FAILURE(check(values, values[0], destinations, 1, 3));
        guarded_array<T> source(values[0], 1), other(count, 2);
        void const* const from[] = {source.data()};
        void* const to[] = {other.data(), source.data()};
        set().for_sources(1)(nullptr, to + 1, 1, from, 1, count);
        ASSERT_TRUE(source.still_holds(values[0]) && source.guards_untouched());
        set().for_sources(1)(nullptr, to, 2, from, 1, count);
        ASSERT_TRUE(source.still_holds(values[0]) && source.guards_untouched());
        ASSERT_TRUE(other.still_holds(values[0]) && other.guards_untouched());
      }
    });
  }
}

TEST_P(Folds, MayStoreIntoAnyOfTheirSources) {
  for_type(type(), []<class T>(T) {
    for (std::size_t const count : {std::size_t(3), 2 * longest_vector_bytes / sizeof(T) + 1, std::size_t(1500)}) {
      for (std::uint32_t const sources : numbers_of_sources()) {
        auto const values = random_sources<T>(sources, count);
        auto const expected = fold(op(), values, sources);
        for (std::uint32_t place = 0; place < sources; ++place) {
          std::vector<guarded_array<T>> arrays;
          for (auto const& source : values) arrays.emplace_back(source, 1);
          guarded_array<T> elsewhere(count, 1);
          std::vector<void const*> from;
          for (auto& array : arrays) from.push_back(array.data());
          void* const to[] = {arrays[place].data(), elsewhere.data()};
          std::uint32_t const destinations = 1 + place % 2;

          set().for_sources(sources)(nullptr, to, destinations, from.data(), sources, count);

          std::string const where = std::to_string(sources) + " sources, into source " + std::to_string(place);
          ASSERT_NO_FATAL_FAILURE(expect_same(arrays[place], expected, where));
          if (destinations == 2) {
            ASSERT_NO_FATAL_FAILURE(expect_same(elsewhere, expected, where));
          }
        }
      }
    }
  });
}

TEST_P(Folds, OfAnyNumberOfSourcesAreThoseOfExactlySoMany) {
  for_type(type(), []<class T>(T) {
    for (std::uint32_t sources = 1; sources <= detail::max_fused_sources; ++sources) {
      auto const values = random_sources<T>(sources, 37);
      std::vector<void const*> from;
      for (auto const& source : values) from.push_back(source.data());
      guarded_array<T> output(37, 0);
      void* const to[] = {output.data()};
      set().any(nullptr, to, 1, from.data(), sources, 37);
      ASSERT_NO_FATAL_FAILURE(expect_same(output, fold(op(), values, sources), "any"));
    }
  });
}

/// Two pages, of which the second cannot be touched.
class page_before_nothing {
 public:
  page_before_nothing() {
    EXPECT_NE(start_, MAP_FAILED);
    EXPECT_EQ(mprotect(end(), page_, PROT_NONE), 0);
  }
  page_before_nothing(page_before_nothing const&) = delete;
  page_before_nothing& operator=(page_before_nothing const&) = delete;
  ~page_before_nothing() { munmap(start_, 2 * page_); }
  unsigned char* end() { return static_cast<unsigned char*>(start_) + page_; }

 private:
  std::size_t page_ = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  void* start_ = mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
};

TEST_P(Folds, TouchNothingBeyondTheEndOfAnArray) {
  page_before_nothing inputs, outputs;
  for_type(type(), [&]<class T>(T) {
    for (std::uint32_t const sources : numbers_of_sources()) {
      for (std::size_t count = 0; count <= 2 * longest_vector_bytes / sizeof(T) + 1; ++count) {
        std::vector<void const*> const from(sources, inputs.end() - count * sizeof(T));
        void* const to[] = {outputs.end() - count * sizeof(T), outputs.end() - count * sizeof(T)};
        set().for_sources(sources)(nullptr, to, 1, from.data(), sources, count);
        set().for_sources(sources)(nullptr, to, 2, from.data(), sources, count);
      }
    }
  });
}

std::vector<parameters> all_folds() {
  std::vector<parameters> all;
  for (auto const& set : instruction_sets()) {
    for (std::size_t op = 0; op < operations; ++op) {
      for (std::size_t type = 0; type < elements; ++type) {
        auto const o = static_cast<operation>(op);
        auto const e = static_cast<element>(type);
        if (detail::has_kernel(o, e)) all.emplace_back(set, o, e, stores::cached);
        // Not by find_streaming(): that would choose the instruction set before any test can.
        if (o <= operation::maximum && is_often_used(e)) all.emplace_back(set, o, e, stores::streaming);
      }
    }
  }
  return all;
}

std::string describe(testing::TestParamInfo<parameters> const& info) {
  auto const& [set, op, type, how] = info.param;
  return set + "_" + operation_names[static_cast<int>(op)] + "_" + element_names[static_cast<int>(type)] +
         (how == stores::streaming ? "_streaming" : "");
}

INSTANTIATE_TEST_SUITE_P(AllInstructionSets, Folds, testing::ValuesIn(all_folds()), describe);

}  // namespace
}  // namespace coset::kernels::test
