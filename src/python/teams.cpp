// SPDX-License-Identifier: Apache-2.0
// Teams, members and requests. Verbs run without the GIL; bodies hold it between verbs.
#include <pybind11/numpy.h>
#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "api/c/tables.hpp"
#include "coset/detail/collective.hpp"
#include "coset/team.hpp"
#include "python/arrays.hpp"
#include "python/module.hpp"
#include "text/format.hpp"

namespace coset::python {
namespace {

/// A member for Python, which may keep it: it ends with the body.
class python_member {
 public:
  explicit python_member(member& me) : me_(&me), thread_(std::this_thread::get_id()) {}

  void end() noexcept { me_ = nullptr; }
  member& get() const {
    if (me_ == nullptr) throw argument_error("a member is used after its body has ended");
    if (thread_ != std::this_thread::get_id())
      throw argument_error("a member is used by another thread than its rank's");
    return *me_;
  }

 private:
  member* me_;
  std::thread::id thread_;
};

/// A call on arrays, with what it works on.
struct array_call {
  detail::call call;
  capi::reduction reduction{};

  array_call(member& me, verb what, elements const& in, elements const& out, std::string const& operation,
             rank_t root) {
    if (in.type != out.type) detail::refuse(me.state(), "the input and the output have different dtypes");
    std::size_t unit = 1;
    reduction = copies(what) ? capi::copy_of(in.type, unit) : capi::reduction_of(in.type, operation_named(operation));
    call = {.what = what,
            .in = in.data,
            .out = out.data,
            .count = whole_length(me, what, in.count, out.count, me.rank() == root),
            .reduction = reduction.table,
            .operation = reduction.context,
            .root = root};
  }

 private:
  static bool copies(verb what) {
    using enum verb;
    return what == broadcast || what == allgather || what == gather || what == scatter || what == all_to_all;
  }

  /// Of a rank whose input or output does not count the length may be anything.
  static std::size_t whole_length(member& me, verb what, std::size_t in, std::size_t out, bool is_root) {
    char const* const name = name_of(what).data();
    bool const gets = is_root || (what != verb::reduce && what != verb::gather);
    switch (what) {
      case verb::gather:
      case verb::allgather: {
        std::size_t const whole = detail::whole_of(me.state(), name, in, {});
        if (gets) detail::require_same_length(me.state(), text::format("{}, all pieces", name).c_str(), whole, out);
        return whole;
      }
      case verb::scatter: {
        std::size_t const whole = detail::whole_of(me.state(), name, out, {});
        if (is_root) detail::require_same_length(me.state(), "scatter, all pieces", in, whole);
        return whole;
      }
      case verb::reduce_scatter:
        detail::require_same_length(me.state(), "reduce_scatter, this rank's piece",
                                    detail::piece_of(me.state(), name, in, {}), out);
        return in;
      default:
        if (gets) detail::require_same_length(me.state(), name, in, out);
        if (what == verb::all_to_all) static_cast<void>(detail::piece_of(me.state(), name, in, {}));
        return in;
    }
  }
};

class python_request {
 public:
  python_request(request of, py::object in, py::object out)
      : request_(std::move(of)), in_(std::move(in)), out_(std::move(out)) {}

  bool test() {
    py::gil_scoped_release const others_go_on;
    return request_.test();
  }
  void wait() {
    py::gil_scoped_release const others_go_on;
    request_.wait();
  }

 private:
  request request_;
  py::object in_, out_;
};

/// x itself, or an array of one element for a number.
py::array as_array(py::object const& x) {
  return py::isinstance<py::array>(x) ? x.cast<py::array>() : py::module_::import("numpy").attr("array")(x);
}

/// In place, unless there is an output. Numbers are returned.
py::object run_verb(python_member const& of, verb what, py::object const& x, py::object const& out,
                    std::string const& operation, rank_t root) {
  member& me = of.get();
  py::array const in = as_array(x), to = out.is_none() ? in : out.cast<py::array>();
  array_call const made(me, what, elements_of(in), writable(to), operation, root);
  {
    py::gil_scoped_release const others_go_on;
    detail::run(me.state(), made.call);
  }
  if (out.is_none() && !py::isinstance<py::array>(x)) return to[py::tuple()];
  return to;
}

void run_copies(member& me, verb what, elements const& in, elements const& out, rank_t root) {
  array_call const made(me, what, in, out, "", root);
  py::gil_scoped_release const others_go_on;
  detail::run(me.state(), made.call);
}

py::object gather(python_member const& of, py::object const& x, rank_t root, py::object const& out) {
  member& me = of.get();
  py::array const piece = as_array(x);
  elements const mine = elements_of(piece);
  if (me.rank() != root) {
    run_copies(me, verb::gather, mine, {nullptr, 0, mine.type}, root);
    return py::none();
  }
  py::object all = out;
  if (out.is_none()) {
    std::vector<py::ssize_t> shape(piece.shape(), piece.shape() + piece.ndim());
    shape.insert(shape.begin(), static_cast<py::ssize_t>(me.size()));
    all = py::array(piece.dtype(), shape);
  }
  run_copies(me, verb::gather, mine, writable(all.cast<py::array>()), root);
  return all;
}

py::array scatter(python_member const& of, py::object const& x, py::array const& out, rank_t root) {
  member& me = of.get();
  elements const mine = writable(out);
  if (me.rank() == root) {
    if (x.is_none()) detail::refuse(me.state(), "the root gives no input");
    py::array const all = as_array(x);
    run_copies(me, verb::scatter, elements_of(all), mine, root);
  } else {
    run_copies(me, verb::scatter, {nullptr, 0, mine.type}, mine, root);
  }
  return out;
}

python_request start_allreduce(python_member const& of, py::array const& x, py::object const& out,
                               std::string const& operation) {
  member& me = of.get();
  py::array const to = out.is_none() ? x : out.cast<py::array>();
  array_call const made(me, verb::allreduce, elements_of(x), writable(to), operation, 0);
  request started = [&] {
    py::gil_scoped_release const others_go_on;
    return detail::start(me.state(), made.call, made.reduction.kept());
  }();
  return {std::move(started), x, to};
}

/// What the first body to fail has raised.
struct raised_in_python {};

py::list run(team& ranks, py::function const& body) {
  std::vector<py::object> results(ranks.size());
  std::unique_ptr<py::error_already_set> first;  // under the GIL
  auto const run_one = [&](member& me) {
    py::gil_scoped_acquire const held;
    auto const given = std::make_shared<python_member>(me);
    try {
      results[me.rank()] = body(given);
      given->end();
    } catch (py::error_already_set& raised) {
      given->end();
      if (!first) first = std::make_unique<py::error_already_set>(raised);
      throw raised_in_python{};
    }
  };
  try {
    py::gil_scoped_release const others_go_on;
    ranks.run(run_one);
  } catch (raised_in_python const&) {
    throw *first;
  }
  py::list all;
  for (py::object& each : results) all.append(std::move(each));
  return all;
}

/// All ranks' arrays by one thread of Python: nobody needs the GIL.
void allreduce_all(team& ranks, std::vector<py::array> const& arrays, std::string const& operation) {
  if (arrays.size() != ranks.size())
    throw argument_error(text::format("{} arrays for {} ranks", arrays.size(), ranks.size()));
  std::vector<elements> all;
  for (py::array const& each : arrays) all.push_back(writable(each));
  py::gil_scoped_release const others_go_on;
  ranks.run([&](member& me) {
    elements const& mine = all[me.rank()];
    detail::run(me.state(), array_call(me, verb::allreduce, mine, mine, operation, 0).call);
  });
}

std::unique_ptr<team> make_team(rank_t ranks, std::string const& place) {
  for (auto const& [name, known] : {std::pair("compact", placement::compact), std::pair("scatter", placement::scatter),
                                    std::pair("unbound", placement::unbound)}) {
    if (place == name) return std::make_unique<team>(team_options{.ranks = ranks, .place = known});
  }
  throw argument_error(text::format("no placement is called {}; there are compact, scatter and unbound", place));
}

}  // namespace

void add_teams(py::module_& m) {
  using namespace pybind11::literals;
  py::class_<python_request>(m, "Request", "An operation under way; only its rank's thread uses it.")
      .def("test", &python_request::test, "Advances it; True once it is complete.")
      .def("wait", &python_request::wait);

  py::class_<python_member, std::shared_ptr<python_member>> one(
      m, "Member", "One rank; collectives are called by every rank of the team, with the same arguments.");
  one.def_property_readonly("rank", [](python_member const& me) { return me.get().rank(); })
      .def_property_readonly("size", [](python_member const& me) { return me.get().size(); })
      .def("barrier", [](python_member const& of) {
        detail::call const meeting{.what = verb::barrier, .reduction = &detail::copy_of<char>()};
        member& me = of.get();
        py::gil_scoped_release const others_go_on;
        detail::run(me.state(), meeting);
      });
  for (verb const what : {verb::allreduce, verb::scan, verb::exclusive_scan}) {
    one.def(
        name_of(what).data(),
        [what](python_member const& me, py::object const& x, std::string const& op, py::object const& out) {
          return run_verb(me, what, x, out, op, 0);
        },
        "x"_a, "op"_a = "plus", "out"_a = py::none(),
        "Reduces x in place, or into `out`, and returns the result. A number is returned, not changed.");
  }
  one.def(
         "reduce",
         [](python_member const& me, py::object const& x, rank_t root, std::string const& op, py::object const& out) {
           return run_verb(me, verb::reduce, x, out, op, root);
         },
         "x"_a, "root"_a = 0, "op"_a = "plus", "out"_a = py::none(), "Only the root's result is defined.")
      .def(
          "broadcast",
          [](python_member const& me, py::object const& x, rank_t root) {
            return run_verb(me, verb::broadcast, x, py::none(), "", root);
          },
          "x"_a, "root"_a = 0)
      .def(
          "allgather",
          [](python_member const& me, py::object const& x, py::array const& out) {
            return run_verb(me, verb::allgather, x, out, "", 0);
          },
          "x"_a, "out"_a, "All ranks' x, of equal lengths, one after the other into `out`.")
      .def("gather", &gather, "x"_a, "root"_a = 0, "out"_a = py::none(),
           "The root gets all ranks' x, of equal lengths, in `out` or in a new array with a row for each rank; others "
           "get None.")
      .def("scatter", &scatter, "x"_a, "out"_a, "root"_a = 0,
           "This rank's piece of the root's x into `out`; what others give as x does not matter.")
      .def(
          "all_to_all",
          [](python_member const& me, py::array const& x, py::object const& out) {
            return run_verb(me, verb::all_to_all, x, out, "", 0);
          },
          "x"_a, "out"_a = py::none(),
          "x is a piece for each rank, of equal lengths; this rank's pieces of all ranks come into x or `out`.")
      .def(
          "reduce_scatter",
          [](python_member const& me, py::array const& x, py::array const& out, std::string const& op) {
            return run_verb(me, verb::reduce_scatter, x, out, op, 0);
          },
          "x"_a, "out"_a, "op"_a = "plus", "This rank's piece of the reduction into `out`.")
      .def("start_allreduce", &start_allreduce, "x"_a, "out"_a = py::none(), "op"_a = "plus",
           "Starts it; neither array may be touched until the request is complete.");

  py::class_<team>(m, "Team", "Threads as ranks, pinned unless placement is 'unbound'.")
      .def(py::init(&make_team), "ranks"_a = 0, "placement"_a = "compact", "0 ranks: one per core.")
      .def_property_readonly("size", &team::size)
      .def("run", &run, "body"_a,
           "Calls body(member) on every rank and returns the results, one per rank. Bodies share the GIL; collectives "
           "and "
           "what numpy does without it run at once. The first exception aborts the team and is raised here.")
      .def("allreduce", &allreduce_all, "arrays"_a, "op"_a = "plus",
           "Reduces one array per rank in place, without the GIL: each gets the total.");
}

}  // namespace coset::python
