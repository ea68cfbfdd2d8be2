// SPDX-License-Identifier: Apache-2.0
// coset itself, through its public interface: private results, out of place.
#include <coset/coset.hpp>

#include <span>

#include "bench/stage.hpp"

namespace coset::bench {
namespace {

template <class Visitor>
void visit_operation(kernels::operation operation, Visitor&& visitor) {
  switch (operation) {
    case kernels::operation::plus:
      return visitor(plus{});
    case kernels::operation::multiplies:
      return visitor(multiplies{});
    case kernels::operation::minimum:
      return visitor(minimum{});
    case kernels::operation::maximum:
      return visitor(maximum{});
  }
}

template <class Visitor>
void visit_element(kernels::element element, Visitor&& visitor) {
  switch (element) {
    case kernels::element::int32:
      return visitor(std::int32_t{});
    case kernels::element::int64:
      return visitor(std::int64_t{});
    case kernels::element::float32:
      return visitor(float{});
    case kernels::element::float64:
      return visitor(double{});
  }
}

class coset_contestant final : public contestant {
 public:
  coset_contestant(std::vector<unsigned> const& processors, std::string const& plan, bool in_place)
      : contestant("coset", plan.empty() ? "coset" : plan),
        options_(plan_named(plan)),
        chooses_(plan.empty()),
        in_place_(in_place),
        team_({.ranks = static_cast<rank_t>(processors.size()), .processors = processors}) {}

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    visit_element(work.shape().element, [&]<class T>(T) {
      visit_operation(work.shape().operation, [&](auto operation) { play<T>(stage, work, operation); });
    });
    return stage.result();
  }

 private:
  template <class T, class Op>
  void play(stage& stage, workload const& work, Op operation) {
    std::size_t const count = work.shape().count;
    auto const named = make_plan<T>(team_, count, operation, options_);
    team_.run([&](member& me) {
      std::byte* const output = in_place_ ? work.input(me.rank()) : work.output(me.rank());
      std::span const in(reinterpret_cast<T const*>(work.input(me.rank())), count);
      std::span const out(reinterpret_cast<T*>(output), count);
      stage.play_rank(me.rank(), [&](std::size_t) {
        chooses_ ? allreduce(me, in, out, operation) : named.execute(me, in, out);
        return output;
      });
    });
  }

  plan_options const options_;
  bool const chooses_, in_place_;
  team team_;
};

}  // namespace

std::unique_ptr<contestant> make_coset(std::vector<unsigned> const& processors, std::string const& plan,
                                       bool in_place) {
  return std::make_unique<coset_contestant>(processors, plan, in_place);
}

}  // namespace coset::bench
