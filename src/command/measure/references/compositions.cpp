// SPDX-License-Identifier: Apache-2.0
#include "command/measure/references/compositions.hpp"

#include <coset/coset.hpp>

#include <array>
#include <cstring>

#include "command/measure/harness/stage.hpp"
#include "command/measure/references/own_team.hpp"
#include "command/measure/references/typed.hpp"

namespace coset::measure {
namespace {

constexpr std::array rows{composition{"allreduce", "reduce + broadcast"},
                          composition{"allreduce", "reduce_scatter + allgather"},
                          composition{"reduce", "allreduce"},
                          composition{"reduce", "reduce_scatter + gather"},
                          composition{"reduce_scatter", "allreduce"},
                          composition{"reduce_scatter", "reduce + scatter"},
                          composition{"allgather", "gather + broadcast"},
                          composition{"broadcast", "scatter + allgather"},
                          composition{"gather", "allgather"},
                          composition{"scatter", "broadcast"},
                          composition{"scan", "exclusive_scan + own fold"},
                          composition{"reduce_shared", "allreduce"},
                          composition{"allreduce_view", "allreduce"},
                          composition{"allreduce_view", "reduce_shared"},
                          composition{"barrier", "allreduce of 8 B"}};

/// What one rank's calls act on.
template <class T>
struct arrays {
  std::span<T const> in;
  std::span<T> out;
  std::span<T> whole, other;  ///< scratch, as long as the vector
  std::span<T> shared;
  items piece;  ///< the rank's of the whole vector

  template <class U>
  std::span<U> own(std::span<U> all) const {
    return all.subspan(piece.begin, piece.end - piece.begin);
  }
};

template <class T, class Op>
void fold_into(std::span<T> to, std::span<T const> first, std::span<T const> second, Op operation) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] = operation(first[i], second[i]);
}

template <class T, class Op>
using play = T const* (*)(member&, arrays<T> const&, Op);

/// In the order of `rows`. Each returns where the rank finds its result.
template <class T, class Op>
constexpr std::array<play<T, Op>, rows.size()> plays{
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      reduce(me, a.in, a.out, 0, op);
      broadcast(me, a.out, 0);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      reduce_scatter(me, a.in, a.own(a.whole), op);
      allgather(me, std::span<T const>(a.own(a.whole)), a.out);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      allreduce(me, a.in, me.rank() == 0 ? a.out : a.whole, op);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      reduce_scatter(me, a.in, a.own(a.whole), op);
      gather(me, std::span<T const>(a.own(a.whole)), me.rank() == 0 ? a.out : std::span<T>(), 0);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      allreduce(me, a.in, a.whole, op);
      return a.own(a.whole).data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      reduce(me, a.in, a.whole, 0, op);
      scatter(me, std::span<T const>(me.rank() == 0 ? a.whole : std::span<T>()), a.out, 0);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op) -> T const* {
      gather(me, a.in, me.rank() == 0 ? a.out : std::span<T>(), 0);
      broadcast(me, a.out, 0);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op) -> T const* {
      bool const is_root = me.rank() == 0;
      scatter(me, is_root ? a.in : std::span<T const>(), a.own(a.whole), 0);
      allgather(me, std::span<T const>(a.own(a.whole)), is_root ? a.other : a.out);
      return is_root ? a.in.data() : a.out.data();
    },
    [](member& me, arrays<T> const& a, Op) -> T const* {
      allgather(me, a.in, me.rank() == 0 ? a.out : a.whole);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op) -> T const* {
      broadcast(me, me.rank() == 0 ? std::span(const_cast<T*>(a.in.data()), a.in.size()) : a.whole, 0);
      return a.own(me.rank() == 0 ? a.in : std::span<T const>(a.whole)).data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      exclusive_scan(me, a.in, a.out, op);
      if (me.rank() == 0)
        std::memcpy(a.out.data(), a.in.data(), a.in.size_bytes());
      else
        fold_into<T, Op>(a.out, a.out, a.in, op);
      return a.out.data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      allreduce(me, a.in, a.whole, op);
      return a.whole.data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      allreduce(me, a.in, a.whole, op);
      return a.whole.data();
    },
    [](member& me, arrays<T> const& a, Op op) -> T const* {
      reduce_shared(me, a.in, a.shared, op);
      return a.shared.data();
    },
    [](member& me, arrays<T> const& a, Op) -> T const* {
      static_cast<void>(allreduce(me, std::int64_t{1}));
      return a.out.data();
    }};

class composed final : public contestant {
 public:
  composed(std::vector<unsigned> const& processors, std::size_t number)
      : contestant("composition", std::string(rows[number].text)), number_(number), team_(team_on(processors)) {}

  std::string declines(problem const& p) const override {
    bool const is_reproducible = p.operation == operation_kind::reproducible_plus;
    return is_reproducible && rows[number_].text.find("own fold") != std::string_view::npos ? "folds by hand" : "";
  }

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    visit_element(work.shape().element, [&]<class T>(T) {
      visit_operation<T>(work.shape().operation, [&](auto operation) { play_all<T>(stage, work, operation); });
    });
    return stage.result();
  }

 private:
  template <class T, class Op>
  void play_all(stage& stage, workload const& work, Op operation) {
    problem const& p = work.shape();
    team_.run([&](member& me) {
      std::vector<T> whole(p.count), other(p.count);
      auto const length = [](items which) { return which.end - which.begin; };
      auto* const shared = reinterpret_cast<T*>(work.shared_output());
      arrays<T> const mine{{reinterpret_cast<T const*>(work.input(me.rank())), length(gives(p, me.rank()))},
                           {reinterpret_cast<T*>(work.output(me.rank())), length(gets(p, me.rank()))},
                           whole,
                           other,
                           {shared, shared == nullptr ? 0 : p.count},
                           piece_of(p, me.rank())};
      auto const once = [&](std::size_t) {
        return reinterpret_cast<std::byte const*>(plays<T, Op>[number_](me, mine, operation));
      };
      for (std::size_t k = 0; k < calls_until_learned; ++k) once(k);
      stage.play_rank(me.rank(), once);
    });
  }

  std::size_t const number_;
  team team_;
};

}  // namespace

std::span<composition const> all_compositions() { return rows; }

std::unique_ptr<contestant> make_composition(std::vector<unsigned> const& processors, composition const& wanted) {
  return std::make_unique<composed>(processors, static_cast<std::size_t>(&wanted - rows.data()));
}

}  // namespace coset::measure
