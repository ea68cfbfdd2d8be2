// SPDX-License-Identifier: Apache-2.0
// coset itself, through its public interface.
#include <coset/coset.hpp>

#include <optional>
#include <set>
#include <span>
#include <tuple>

#include "command/measure/harness/stage.hpp"
#include "command/measure/references/own_team.hpp"
#include "command/measure/references/typed.hpp"

namespace coset::measure {
namespace {

class coset_contestant final : public contestant {
 public:
  coset_contestant(std::vector<unsigned> const& processors, std::string const& plan, calls how)
      : contestant("coset", !plan.empty() ? plan
                            : how.started ? "coset, started"
                                          : "coset"),
        options_(plan_named(plan)),
        chooses_(plan.empty()),
        how_(how),
        team_(team_on(processors)) {}

  std::string declines(problem const& p) const override {
    return how_.started && !may_start(p.what) ? "has no start" : "";
  }

  burst_result burst(workload const& work, burst_order const& order) override {
    stage stage(work, order);
    visit_element(work.shape().element, [&]<class T>(T) {
      visit_operation<T>(work.shape().operation, [&](auto operation) { play<T>(stage, work, operation); });
    });
    return stage.result();
  }

 private:
  template <class T, class Op>
  void play(stage& stage, workload const& work, Op operation) {
    problem const& p = work.shape();
    auto const named =
        chooses_ ? std::nullopt : std::optional(make_plan<T>(team_, p.what, p.count, operation, options_));
    bool const is_new = chooses_ && learned_.insert({p.what, p.count, p.element, p.operation}).second;
    team_.run([&](member& me) {
      std::byte* const output = how_.in_place                   ? work.input(me.rank())
                                : p.what == verb::reduce_shared ? work.shared_output()
                                                                : work.output(me.rank());
      std::span const in(reinterpret_cast<T const*>(work.input(me.rank())), length(gives(p, me.rank())));
      std::span const out(reinterpret_cast<T*>(output), length(gets(p, me.rank())));
      auto const once = [&](std::size_t) -> std::byte const* {
        if (how_.started)
          start<T>(p, me, in, out, operation).wait();
        else if (!chooses_)
          named->execute(me, in, out);       // a broadcast's root has it where it was
        else if (p.what == verb::allreduce)  // looked at first: it is the one whose nanoseconds are compared
          allreduce(me, in, out, operation);
        else
          return call(p.what, me, in, out, p.count, operation);
        return p.what == verb::broadcast && me.rank() == 0 ? work.input(0) : output;
      };
      // Timed is what calls have shown to be best, not the trials before.
      for (std::size_t k = 0; is_new && k < calls_until_learned; ++k) once(k);
      stage.play_rank(me.rank(), once);
    });
  }

  static std::size_t length(items which) { return which.end - which.begin; }

  template <class T, class Op>
  static std::byte const* call(verb what, member& me, std::span<T const> in, std::span<T> out, std::size_t count,
                               Op operation) {
    switch (what) {
      case verb::allreduce_view:
        return reinterpret_cast<std::byte const*>(allreduce_view(me, in, operation).data());
      case verb::reduce_shared:
        reduce_shared(me, in, out, operation);
        break;
      case verb::reduce:
        reduce(me, in, out, 0, operation);
        break;
      case verb::reduce_scatter:
        reduce_scatter(me, in, out, operation);
        break;
      case verb::allgather:
        allgather(me, in, out);
        break;
      case verb::broadcast:
        broadcast(me, me.rank() == 0 ? std::span(const_cast<T*>(in.data()), in.size()) : out, 0);
        return reinterpret_cast<std::byte const*>(me.rank() == 0 ? in.data() : out.data());
      case verb::gather:
        gather(me, in, out, 0);
        break;
      case verb::scatter:
        scatter(me, in, out, 0);
        break;
      case verb::all_to_all:
        all_to_all(me, in, out);
        break;
      case verb::scan:
        scan(me, in, out, operation);
        break;
      case verb::exclusive_scan:
        exclusive_scan(me, in, out, operation);
        break;
      case verb::allreduce:
        allreduce(me, in, out, operation);
        break;
      case verb::barrier:
        barrier(me);
        break;
      default:  // what the headers of all verbs call, where each rank has its own result
        if (detail::shares_result(what))
          throw argument_error("nobody has written the call of this verb: " + std::string(name_of(what)));
        detail::run(me.state(), call_of(what, in, out, count, operation));
    }
    return reinterpret_cast<std::byte const*>(out.data());
  }

  template <class T, class Op>
  static detail::call call_of(verb what, std::span<T const> in, std::span<T> out, std::size_t count,
                              Op const& operation) {
    return {.what = what,
            .in = in.data(),
            .out = out.data(),
            .count = count,
            .reduction = detail::only_moves(what) ? &detail::copy_of<T>() : &detail::table_of<T, Op>(),
            .operation = &operation};
  }

  template <class T, class Op>
  static request start(problem const& p, member& me, std::span<T const> in, std::span<T> out, Op const& operation) {
    if (p.what == verb::barrier) return start_barrier(me);
    if (p.what == verb::broadcast)
      return start_broadcast(me, me.rank() == 0 ? std::span(const_cast<T*>(in.data()), in.size()) : out, 0);
    return detail::start(me.state(), call_of(p.what, in, out, p.count, operation), detail::kept_if_possible(operation));
  }

  plan_options const options_;
  bool const chooses_;
  calls const how_;
  team team_;
  std::set<std::tuple<verb, std::size_t, element_kind, operation_kind>> learned_;  ///< shapes
};

}  // namespace

std::unique_ptr<contestant> make_coset(std::vector<unsigned> const& processors, std::string const& plan, calls how) {
  return std::make_unique<coset_contestant>(processors, plan, how);
}

}  // namespace coset::measure
