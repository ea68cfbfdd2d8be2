// SPDX-License-Identifier: Apache-2.0
// The explorer itself: what small programs can do under C++'s memory model, no more and no less.
#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <string>

#include "memory/explorer/explorer.hpp"

namespace coset::memory_test {
namespace {

constexpr auto relaxed = std::memory_order_relaxed, acquire = std::memory_order_acquire,
               release = std::memory_order_release, in_order = std::memory_order_seq_cst;

using results = std::set<std::string>;

struct shared {
  std::atomic<int> x = 0, y = 0;
  int plain = 0;
  std::array<int, 4> seen{};

  void begin() {
    x = y = plain = 0;
    seen = {};
  }
};

/// What the threads can see together.
template <class... Bodies>
results outcomes_of(std::size_t values, Bodies... bodies) {
  results all;
  auto const s = std::make_shared<shared>();
  auto const found = explore([&] {
    s->begin();
    program made;
    (made.threads.push_back([s, bodies] { bodies(*s); }), ...);
    made.fault = [s, values, &all] {
      std::string text;
      for (std::size_t i = 0; i < values; ++i) text += std::to_string(s->seen[i]);
      all.insert(text);
      return std::string();
    };
    return made;
  });
  EXPECT_TRUE(found.all);
  EXPECT_EQ(found.fault, "");
  return all;
}

template <class... Bodies>
std::string fault_of(Bodies... bodies) {
  auto const s = std::make_shared<shared>();
  return explore([&] {
           s->begin();
           program made;
           (made.threads.push_back([s, bodies] { bodies(*s); }), ...);
           return made;
         })
      .fault;
}

auto write_x_read_y(std::memory_order w, std::memory_order r) {
  return [=](shared& s) {
    s.x.store(1, w);
    s.seen[0] = s.y.load(r);
  };
}
auto write_y_read_x(std::memory_order w, std::memory_order r) {
  return [=](shared& s) {
    s.y.store(1, w);
    s.seen[1] = s.x.load(r);
  };
}

}  // namespace

TEST(Litmus, StoresMayPassLoadsUnlessAllAreInOrder) {
  EXPECT_EQ(outcomes_of(2, write_x_read_y(release, acquire), write_y_read_x(release, acquire)),
            (results{"00", "01", "10", "11"}));
  EXPECT_EQ(outcomes_of(2, write_x_read_y(in_order, in_order), write_y_read_x(in_order, in_order)),
            (results{"01", "10", "11"}));
  EXPECT_EQ(outcomes_of(2, write_x_read_y(in_order, acquire), write_y_read_x(in_order, in_order)),
            (results{"00", "01", "10", "11"}));
}

TEST(Litmus, FencesOrderWhatIsAroundThem) {
  auto const one = [](shared& s) {
    s.x.store(1, relaxed);
    std::atomic_thread_fence(in_order);
    s.seen[0] = s.y.load(relaxed);
  };
  auto const other = [](shared& s) {
    s.y.store(1, relaxed);
    std::atomic_thread_fence(in_order);
    s.seen[1] = s.x.load(relaxed);
  };
  EXPECT_EQ(outcomes_of(2, one, other), (results{"01", "10", "11"}));
}

TEST(Litmus, OneThreadsFenceServesAll) {
  auto const one = [](shared& s) {
    s.x.store(1, relaxed);
    s.seen[0] = s.y.load(relaxed);
  };
  auto const other = [](shared& s) {
    s.y.store(1, relaxed);
    perform_fence_of_all();
    s.seen[1] = s.x.load(relaxed);
  };
  EXPECT_EQ(outcomes_of(2, one, other), (results{"01", "10", "11"}));
}

TEST(Litmus, MessagesAreSeenWholeByThoseWhoAcquireThem) {
  auto const give = [](std::memory_order order) {
    return [=](shared& s) {
      s.x.store(1, relaxed);
      s.y.store(1, order);
    };
  };
  auto const take = [](std::memory_order order) {
    return [=](shared& s) {
      s.seen[0] = s.y.load(order);
      s.seen[1] = s.x.load(relaxed);
    };
  };
  results const any{"00", "01", "10", "11"}, whole{"00", "01", "11"};
  EXPECT_EQ(outcomes_of(2, give(release), take(acquire)), whole);
  EXPECT_EQ(outcomes_of(2, give(relaxed), take(acquire)), any);
  EXPECT_EQ(outcomes_of(2, give(release), take(relaxed)), any);
}

TEST(Litmus, AReadModifyWritePassesOnWhatItReads) {
  auto const give = [](shared& s) {
    s.x.store(1, relaxed);
    s.y.store(1, release);
  };
  auto const pass = [](shared& s) { s.y.fetch_add(1, relaxed); };
  auto const take = [](shared& s) {
    s.seen[0] = s.y.load(acquire);
    s.seen[1] = s.x.load(relaxed);
  };
  auto const all = outcomes_of(2, give, pass, take);
  EXPECT_FALSE(all.contains("20"));
  EXPECT_TRUE(all.contains("21"));
}

TEST(Litmus, LoadsOfOneObjectAgreeOnItsOrder) {
  auto const give = [](shared& s) {
    s.x.store(1, relaxed);
    s.x.store(2, relaxed);
  };
  auto const take = [](shared& s) {
    s.seen[0] = s.x.load(relaxed);
    s.seen[1] = s.x.load(relaxed);
  };
  EXPECT_EQ(outcomes_of(2, give, take), (results{"00", "01", "02", "11", "12", "22"}));
}

TEST(Litmus, IndependentStoresHaveOneOrderOnlyIfAllAreInOrder) {
  auto const at_x = [](shared& s) { s.x.store(1, in_order); };
  auto const at_y = [](shared& s) { s.y.store(1, in_order); };
  auto const xy = [](std::memory_order order) {
    return [=](shared& s) {
      s.seen[0] = s.x.load(order);
      s.seen[1] = s.y.load(order);
    };
  };
  auto const yx = [](std::memory_order order) {
    return [=](shared& s) {
      s.seen[2] = s.y.load(order);
      s.seen[3] = s.x.load(order);
    };
  };
  EXPECT_FALSE(outcomes_of(4, at_x, at_y, xy(in_order), yx(in_order)).contains("1010"));
  EXPECT_TRUE(outcomes_of(4, at_x, at_y, xy(acquire), yx(acquire)).contains("1010"));
}

// What is known without happens-before does not count: the middle thread has read y before x was written, and tells nobody.
TEST(Litmus, TheOrderOfAllIsNotThatOfRelaxedReads) {
  auto const one = [](shared& s) {
    s.x.exchange(1, in_order);
    s.seen[0] = s.y.load(in_order);
  };
  auto const two = [](shared& s) { s.y.exchange(1, in_order); };
  auto const three = [](std::memory_order order) {
    return [=](shared& s) {
      s.seen[1] = s.y.load(order);
      s.seen[2] = s.x.load(in_order);
    };
  };
  EXPECT_TRUE(outcomes_of(3, one, two, three(relaxed)).contains("010"));
  EXPECT_FALSE(outcomes_of(3, one, two, three(acquire)).contains("010"));
  EXPECT_FALSE(outcomes_of(3, one, two, three(in_order)).contains("010"));
}

TEST(Litmus, PlainAccessesRaceUnlessSomethingOrdersThem) {
  auto const give = [](std::memory_order order) {
    return [=](shared& s) {
      s.plain = 1;
      s.x.store(1, order);
    };
  };
  auto const take = [](std::memory_order order) {
    return [=](shared& s) {
      if (s.x.load(order) == 1) s.seen[0] = s.plain;
    };
  };
  EXPECT_EQ(fault_of(give(release), take(acquire)), "");
  EXPECT_NE(fault_of(give(relaxed), take(acquire)).find("races with a plain write"), std::string::npos);
  EXPECT_NE(fault_of(give(release), take(relaxed)).find("races with a plain write"), std::string::npos);
}

TEST(Litmus, LoopsThatWaitEnd) {
  auto const wait = [](shared& s) {
    while (s.x.load(acquire) == 0) {
    }
    s.seen[0] = s.plain;
  };
  auto const give = [](shared& s) {
    s.plain = 7;
    s.x.store(1, release);
  };
  EXPECT_EQ(outcomes_of(1, wait, give), results{"7"});
  EXPECT_NE(fault_of(wait, [](shared&) {}).find("nobody can go on"), std::string::npos);
}

TEST(Litmus, EachOrderOfThreeWritersIsSeenOnce) {
  auto const s = std::make_shared<shared>();
  auto const found = explore([&] {
    s->begin();
    program made;
    for (int t = 0; t < 3; ++t) made.threads.push_back([s] { s->x.fetch_add(1, relaxed); });
    return made;
  });
  EXPECT_TRUE(found.all);
  EXPECT_EQ(found.executions, 6u);
}

}  // namespace coset::memory_test
