// SPDX-License-Identifier: Apache-2.0
// The verbs of a member, and requests. Verbs run without the GIL; bodies hold it between verbs.
#include "python/members.hpp"

#include <limits>
#include <utility>
#include <vector>

#include "api/c/tables.hpp"
#include "coset/detail/collective.hpp"
#include "python/arrays.hpp"
#include "python/module.hpp"
#include "python/signals.hpp"
#include "text/format.hpp"

namespace coset::python {
namespace {

/// Checks of one rank's arguments: all ranks hear of what is wrong.
template <class Check>
auto checked(member& me, Check check) {
  try {
    return check();
  } catch (argument_error const& wrong) {
    detail::refuse(me.state(), wrong.what());
  }
}

/// What Python calls the function, and who calls it.
struct caller {
  char const* function;
  rank_t rank = 0, size = 1;

  caller(char const* name, member const& me) : function(name), rank(me.rank()), size(me.size()) {}
  explicit caller(char const* name) : function(name) {}
};

/// A call on arrays, with what it works on.
struct array_call {
  detail::call call;
  capi::reduction reduction{};

  array_call(caller me, verb what, elements const& in, elements const& out, std::string const& operation, rank_t root)
      : me_(me) {
    if (in.type != out.type) refuse("x has elements of {}, out of {}", in.dtype(), out.dtype());
    std::size_t unit = 1;
    reduction = copies(what) ? capi::copy_of(in.type, unit) : reduction_by(operation, in);
    call = {.what = what,
            .in = in.data,
            .out = out.data,
            .count = whole_length(what, in.count, out.count, me.rank == root),
            .reduction = reduction.table,
            .operation = reduction.context,
            .root = root};
  }

 private:
  static bool copies(verb what) {
    using enum verb;
    return what == broadcast || what == allgather || what == gather || what == scatter || what == all_to_all;
  }

  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> why, Values&&... values) const {
    throw argument_error(text::format("{}: ", me_.function) + text::format(why, std::forward<Values>(values)...));
  }

  capi::reduction reduction_by(std::string const& operation, elements const& in) const {
    coset_operation const found = operation_named(operation);
    try {
      return capi::reduction_of(in.type, found);
    } catch (argument_error const&) {
      refuse("op={} does not go with elements of {}", operation, in.dtype());
    }
  }

  void require(char const* name, std::size_t has, std::size_t needs) const {
    if (has != needs) refuse("{} has {} elements and needs {}", name, has, needs);
  }

  std::size_t piece_of_x(std::size_t whole) const {
    if (whole % me_.size != 0) refuse("x has {} elements, which do not make {} equal pieces", whole, me_.size);
    return whole / me_.size;
  }

  /// Of a rank whose input or output does not count the length may be anything.
  std::size_t whole_length(verb what, std::size_t in, std::size_t out, bool is_root) const {
    bool const gets = is_root || (what != verb::reduce && what != verb::gather);
    switch (what) {
      case verb::gather:
      case verb::allgather:
        if (gets) require("out", out, in * me_.size);
        return in * me_.size;
      case verb::scatter:
        if (is_root) require("x", in, out * me_.size);
        return out * me_.size;
      case verb::reduce_scatter:
        require("out", out, piece_of_x(in));
        return in;
      case verb::all_to_all:
        static_cast<void>(piece_of_x(in));
        [[fallthrough]];
      case verb::allreduce:
      case verb::reduce:
      case verb::broadcast:
      case verb::scan:
      case verb::exclusive_scan:
      case verb::barrier:
      case verb::reduce_shared:
      case verb::allreduce_view:
        if (gets) require("out", out, in);
        return in;
    }
    __builtin_unreachable();
  }

  caller me_;
};

class python_request {
 public:
  python_request(request of, py::object in, py::object out)
      : in_(std::move(in)), out_(std::move(out)), request_(std::move(of)), thread_(std::this_thread::get_id()) {}

  bool test() {
    require_its_thread();
    return without_gil([this] { return request_.test(); });
  }
  void wait() {
    require_its_thread();
    without_gil([this] { request_.wait(); });
  }

 private:
  void require_its_thread() const {
    if (thread_ != std::this_thread::get_id())
      throw argument_error("a request is used by another thread than its rank's");
    if (signal_watch::is_in_handler())
      throw argument_error("a signal's handler uses a request in the middle of a verb");
  }

  py::object in_, out_;
  request request_;  ///< ends before its arrays: other ranks may be at them until then
  std::thread::id thread_;
};

rank_t root_of(py::handle root, char const* function) { return whole_number(root, {function, "root"}, 0); }

void run_call(member& me, detail::call const& call) {
  without_gil([&] { detail::run(me.state(), call); });
}

/// In place, unless there is an output or has to be one. Numbers are returned.
py::object run_verb(python_member const& of, verb what, py::object const& x, py::object const& out,
                    std::string const& operation, py::object const& root = py::int_(0)) {
  member& me = of.get();
  char const* const function = name_of(what).data();
  bool const in_place = out.is_none() && what != verb::allgather && what != verb::reduce_scatter;
  elements in, to;
  array_call const made = checked(me, [&] {
    rank_t const at = root_of(root, function);
    to = in_place ? changed(x, {function, "x"}) : written_to(out, {function, "out"});
    in = in_place ? to : read_from(x, {function, "x"});
    return array_call({function, me}, what, in, to, operation, at);
  });
  run_call(me, made.call);
  if (!in_place) return out;
  return is_number(x) ? py::object(to.array[py::tuple()]) : x;
}

py::object gather(python_member const& of, py::object const& x, py::object const& root, py::object const& out) {
  member& me = of.get();
  py::object all = py::none();
  elements mine, whole;
  array_call const made = checked(me, [&] {
    rank_t const at = root_of(root, "gather");
    mine = read_from(x, {"gather", "x"});
    whole.type = mine.type;
    if (me.rank() == at) {
      all = out;
      if (out.is_none()) {
        auto const piece = py::reinterpret_borrow<py::array>(mine.array);
        std::vector<py::ssize_t> shape(piece.shape(), piece.shape() + piece.ndim());
        shape.insert(shape.begin(), static_cast<py::ssize_t>(me.size()));
        all = py::array(piece.dtype(), shape);
      }
      whole = written_to(all, {"gather", "out"});
    }
    return array_call({"gather", me}, verb::gather, mine, whole, "", at);
  });
  run_call(me, made.call);
  return all;
}

py::object scatter(python_member const& of, py::object const& x, py::object const& out, py::object const& root) {
  member& me = of.get();
  elements mine, whole;
  array_call const made = checked(me, [&] {
    rank_t const at = root_of(root, "scatter");
    mine = written_to(out, {"scatter", "out"});
    whole.type = mine.type;
    if (me.rank() == at) {
      if (x.is_none()) throw argument_error("scatter: the root gives no x");
      whole = read_from(x, {"scatter", "x"});
    }
    return array_call({"scatter", me}, verb::scatter, whole, mine, "", at);
  });
  run_call(me, made.call);
  return out;
}

python_request start_allreduce(python_member const& of, py::object const& x, py::object const& out,
                               std::string const& operation) {
  member& me = of.get();
  constexpr char const* function = "start_allreduce";
  elements in, to;
  array_call const made = checked(me, [&] {
    in = out.is_none() ? written_to(x, {function, "x"}) : read_from(x, {function, "x"});
    to = out.is_none() ? in : written_to(out, {function, "out"});
    return array_call({function, me}, verb::allreduce, in, to, operation, 0);
  });
  request started = without_gil([&] { return detail::start(me.state(), made.call, made.reduction.kept()); });
  return {std::move(started), in.array, to.array};
}

void barrier(python_member const& of) {
  run_call(of.get(), {.what = verb::barrier, .reduction = &detail::copy_of<char>()});
}

}  // namespace

member& python_member::get() const {
  if (me_ == nullptr) throw argument_error("a member is used after its body has ended");
  if (thread_ != std::this_thread::get_id()) throw argument_error("a member is used by another thread than its rank's");
  if (signal_watch::is_in_handler()) throw argument_error("a signal's handler uses a member in the middle of a verb");
  return *me_;
}

rank_t whole_number(py::handle x, parameter at, rank_t least, rank_t most) {
  if (PyIndex_Check(x.ptr()) && !PyBool_Check(x.ptr())) {
    int overflow = 0;
    auto const number = py::reinterpret_steal<py::object>(PyNumber_Index(x.ptr()));
    if (!number) throw py::error_already_set();
    long long const value = PyLong_AsLongLongAndOverflow(number.ptr(), &overflow);
    if (overflow == 0 && value >= least && value <= most) return static_cast<rank_t>(value);
  }
  throw argument_error(text::format("{}: {} is {}; it has to be a whole number from {}", at.function, at.name,
                                    py::repr(x).cast<std::string>(), least) +
                       (most == any_rank ? "" : text::format(" to {}", most)));
}

detail::call allreduce_call(elements const& mine, std::string const& operation) {
  return array_call(caller("Team.allreduce"), verb::allreduce, mine, mine, operation, 0).call;
}

void add_members(py::module_& m) {
  using namespace pybind11::literals;
  py::class_<python_request>(m, "Request", "An operation under way; only its rank's thread uses it.")
      .def("test", &python_request::test, "Advances it; True once it is complete.")
      .def("wait", &python_request::wait);

  py::class_<python_member, std::shared_ptr<python_member>> one(
      m, "Member",
      "One rank; collectives are called by every rank of the team, with the same arguments. What is only read may be "
      "an "
      "array, a number or a list. What is written to is a numpy array or another writable buffer: array.array, "
      "memoryview.");
  one.def_property_readonly("rank", [](python_member const& me) { return me.get().rank(); })
      .def_property_readonly("size", [](python_member const& me) { return me.get().size(); })
      .def("barrier", &barrier);
  for (verb const what : {verb::allreduce, verb::scan, verb::exclusive_scan}) {
    one.def(
        name_of(what).data(),
        [what](python_member const& me, py::object const& x, std::string const& op, py::object const& out) {
          return run_verb(me, what, x, out, op);
        },
        "x"_a, "op"_a = "plus", "out"_a = py::none(),
        "Reduces x in place, or into `out`, and returns the result. A number is returned, not changed.");
  }
  one.def(
         "reduce",
         [](python_member const& me, py::object const& x, py::object const& root, std::string const& op,
            py::object const& out) { return run_verb(me, verb::reduce, x, out, op, root); },
         "x"_a, "root"_a = 0, "op"_a = "plus", "out"_a = py::none(), "Only the root's result is defined.")
      .def(
          "broadcast",
          [](python_member const& me, py::object const& x, py::object const& root) {
            return run_verb(me, verb::broadcast, x, py::none(), "", root);
          },
          "x"_a, "root"_a = 0, "The root's x into all others'. A number is returned, not changed.")
      .def(
          "allgather",
          [](python_member const& me, py::object const& x, py::object const& out) {
            return run_verb(me, verb::allgather, x, out, "");
          },
          "x"_a, "out"_a, "All ranks' x, of equal lengths, one after the other into `out`.")
      .def("gather", &gather, "x"_a, "root"_a = 0, "out"_a = py::none(),
           "The root gets all ranks' x, of equal lengths, in `out` or in a new array with a row for each rank; others "
           "get None.")
      .def("scatter", &scatter, "x"_a, "out"_a, "root"_a = 0,
           "This rank's piece of the root's x into `out`; what others give as x does not matter.")
      .def(
          "all_to_all",
          [](python_member const& me, py::object const& x, py::object const& out) {
            return run_verb(me, verb::all_to_all, x, out, "");
          },
          "x"_a, "out"_a = py::none(),
          "x is a piece for each rank, of equal lengths; this rank's pieces of all ranks come into x or `out`.")
      .def(
          "reduce_scatter",
          [](python_member const& me, py::object const& x, py::object const& out, std::string const& op) {
            return run_verb(me, verb::reduce_scatter, x, out, op);
          },
          "x"_a, "out"_a, "op"_a = "plus", "This rank's piece of the reduction into `out`.")
      .def("start_allreduce", &start_allreduce, "x"_a, "out"_a = py::none(), "op"_a = "plus",
           "Starts it; neither array may be touched until the request is complete.");
}

}  // namespace coset::python
