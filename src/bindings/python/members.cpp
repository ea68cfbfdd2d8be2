// SPDX-License-Identifier: Apache-2.0
// The verbs of a member, blocking and started. Verbs run without the GIL; bodies hold it between verbs.
#include "bindings/python/members.hpp"

#include <algorithm>
#include <concepts>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/text/format.hpp"
#include "bindings/c/tables.hpp"
#include "bindings/python/arrays.hpp"
#include "bindings/python/module.hpp"
#include "bindings/python/signals.hpp"
#include "coset/detail/collective.hpp"

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

/// Who calls which verb, and what Python calls it.
struct caller {
  char const* function;
  verb what;
  rank_t rank = 0, size = 1, root = 0;

  bool gives_nothing() const { return detail::gives(what, rank == root) == detail::share::nothing; }
  bool gets_nothing() const { return detail::gets(what, rank == root) == detail::share::nothing; }
  /// A gather's output is the root's alone; of a reduce every rank passes one, or reduces in place.
  bool passes_no_output() const {
    return gets_nothing() && detail::row_of(what).in_place == detail::same_array::of_root;
  }
};

/// A call on arrays, with what it works on.
struct array_call {
  detail::call call;
  capi::reduction reduction{};

  array_call(caller me, elements const& in, elements const& out, std::string const& operation) : me_(me) {
    if (in.type != out.type) refuse("x has elements of {}, out of {}", in.dtype(), out.dtype());
    reduction = reduction_by(operation, in);
    call = {.what = me.what,
            .in = in.data,
            .out = out.data,
            .count = whole_length(in.count, out.count),
            .reduction = reduction.table,
            .operation = reduction.context,
            .root = me.root};
  }

 private:
  template <class... Values>
  [[noreturn]] void refuse(fmt::format_string<Values...> why, Values&&... values) const {
    throw argument_error(text::format("{}: ", me_.function) + text::format(why, std::forward<Values>(values)...));
  }

  capi::reduction reduction_by(std::string const& operation, elements const& in) const {
    std::size_t unit = 1;
    if (detail::is_barrier(me_.what)) return {&detail::copy_of<char>(), nullptr};
    if (detail::only_moves(me_.what)) return capi::copy_of(in.type, unit);
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
  std::size_t whole_length(std::size_t in, std::size_t out) const {
    bool const gets_pieces = detail::gets_pieces(me_.what);
    if (gets_pieces && detail::is_rooted(me_.what)) {  // only the root knows the whole
      if (!me_.gives_nothing()) require("x", in, out * me_.size);
      return out * me_.size;
    }
    std::size_t const whole = detail::gives_pieces(me_.what) ? in * me_.size : in;
    std::size_t const piece = detail::is_of_pieces(me_.what) ? piece_of_x(whole) : whole;
    if (!me_.gets_nothing()) require("out", out, gets_pieces ? piece : whole);
    return whole;
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

/// What Python passes to a verb. A verb without one of these gets what stands here.
struct arguments {
  py::object x = py::none(), out = py::none(), root = py::int_(0);
  std::string operation;
};

enum class phases { one, two };  ///< blocking, or started and waited for

/// What one rank's call works on, and the object that it returns unless that is a number.
struct call_arrays {
  elements in, out;
  py::object returned = py::none();
};

/// A row for each rank.
py::object rows_of(elements const& piece, rank_t ranks) {
  auto const row = py::reinterpret_borrow<py::array>(piece.array);
  std::vector<py::ssize_t> shape(row.shape(), row.shape() + row.ndim());
  shape.insert(shape.begin(), static_cast<py::ssize_t>(ranks));
  return py::array(row.dtype(), shape);
}

/// In place, unless there is an output or has to be one. A request returns no result: whatever it writes to is passed.
call_arrays arrays_of(caller const& me, arguments const& given, phases how) {
  parameter const x{me.function, "x"}, out{me.function, "out"};
  if (detail::is_barrier(me.what)) return {};
  if (given.out.is_none() && !detail::gives_pieces(me.what) && !detail::gets_pieces(me.what)) {
    elements const both = how == phases::one ? changed(given.x, x) : written_to(given.x, x);
    return {both, both, given.x};
  }
  call_arrays all;
  if (!me.gives_nothing()) {
    if (detail::is_from_root(me.what) && given.x.is_none())
      throw argument_error(text::format("{}: the root gives no x", me.function));
    all.in = read_from(given.x, x);
  }
  if (me.passes_no_output()) {
    all.out.type = all.in.type;
    return all;
  }
  bool const makes_output = given.out.is_none() && detail::gathers_at_root(me.what) && how == phases::one;
  all.returned = makes_output ? rows_of(all.in, me.size) : given.out;
  all.out = written_to(all.returned, out);
  if (me.gives_nothing()) all.in.type = all.out.type;
  return all;
}

struct prepared_call {
  call_arrays arrays;
  array_call made;
};

prepared_call prepare(member& me, verb what, char const* function, arguments const& given, phases how) {
  return checked(me, [&]() -> prepared_call {
    rank_t const root = whole_number(given.root, {function, "root"}, 0);
    caller const calls{function, what, me.rank(), me.size(), root};
    call_arrays arrays = arrays_of(calls, given, how);
    array_call const made(calls, arrays.in, arrays.out, given.operation);
    return {std::move(arrays), made};
  });
}

/// A number is returned as a number.
py::object run_verb(member& me, verb what, arguments const& given) {
  auto const mine = prepare(me, what, name_of(what).data(), given, phases::one);
  without_gil([&] { detail::run(me.state(), mine.made.call); });
  py::object const& returned = mine.arrays.returned;
  return is_number(returned) ? py::object(mine.arrays.out.array[py::tuple()]) : returned;
}

python_request start_verb(member& me, verb what, char const* function, arguments const& given) {
  auto const mine = prepare(me, what, function, given, phases::two);
  request started = without_gil([&] { return detail::start(me.state(), mine.made.call, mine.made.reduction.kept()); });
  return {std::move(started), mine.arrays.in.array, mine.arrays.out.array};
}

/// The parameters of verbs: what Python calls them, their defaults, and where their values go.
struct input {
  static constexpr auto place = &arguments::x;
  static auto named() { return py::arg("x"); }
};
struct output {
  static constexpr auto place = &arguments::out;
  static auto named() { return py::arg("out"); }
};
struct optional_output : output {
  static auto named() { return py::arg("out") = py::none(); }
};
struct operation {
  static constexpr auto place = &arguments::operation;
  static auto named() { return py::arg("op") = "plus"; }
};
struct root {
  static constexpr auto place = &arguments::root;
  static auto named() { return py::arg("root") = 0; }
};

template <class Parameter>
using value_for = std::remove_reference_t<decltype(std::declval<arguments&>().*Parameter::place)>;

using member_class = py::class_<python_member, std::shared_ptr<python_member>>;

/// A verb with its parameters in Python's order, which the blocking form and the started one share.
template <class... Parameters>
struct bound_verb {
  verb what;
  char const* words;

  /// Whether it has a root and an operation if, and only if, the verb needs them.
  constexpr bool fits() const {
    return (std::same_as<Parameters, root> || ...) == detail::is_rooted(what) &&
           (std::same_as<Parameters, operation> || ...) != detail::only_moves(what);
  }

  void bind_to(member_class& one) const {
    std::string const name(name_of(what)), start = "start_" + name;
    one.def(
        name.c_str(),
        [what = what](python_member const& me, value_for<Parameters> const&... values) {
          return run_verb(me.get(), what, given(values...));
        },
        Parameters::named()..., words);
    std::string const about_start = "Starts " + name +
                                    "(). What it writes to is an array that is passed; none may be "
                                    "touched until the request is complete.";
    one.def(
        start.c_str(),
        [what = what, start](python_member const& me, value_for<Parameters> const&... values) {
          return start_verb(me.get(), what, start.c_str(), given(values...));
        },
        Parameters::named()..., about_start.c_str());
  }

 private:
  static arguments given(value_for<Parameters> const&... values) {
    arguments all;
    ((all.*Parameters::place = values), ...);
    return all;
  }
};

constexpr char const* reduces =
    "Reduces x in place, or into `out`, and returns the result. A number is returned, not changed.";

constexpr std::tuple bound_verbs{
    bound_verb<input, operation, optional_output>{verb::allreduce, reduces},
    bound_verb<input, operation, optional_output>{verb::scan, reduces},
    bound_verb<input, operation, optional_output>{verb::exclusive_scan, reduces},
    bound_verb<input, root, operation, optional_output>{verb::reduce, "Only the root's result is defined."},
    bound_verb<input, root>{verb::broadcast, "The root's x into all others'. A number is returned, not changed."},
    bound_verb<input, output>{verb::allgather, "All ranks' x, of equal lengths, one after the other into `out`."},
    bound_verb<input, root, optional_output>{
        verb::gather,
        "The root gets all ranks' x, of equal lengths, in `out` or in a new array with a row for each rank; "
        "others get None."},
    bound_verb<input, output, root>{
        verb::scatter, "This rank's piece of the root's x into `out`; what others give as x does not matter."},
    bound_verb<input, optional_output>{
        verb::all_to_all,
        "x is a piece for each rank, of equal lengths; this rank's pieces of all ranks come into x or `out`."},
    bound_verb<input, output, operation>{verb::reduce_scatter, "This rank's piece of the reduction into `out`."},
    bound_verb<>{verb::barrier, "No rank leaves before all have come."}};

constexpr std::size_t times_bound(verb what) {
  return std::apply([what](auto const&... each) { return (std::size_t{each.what == what} + ...); }, bound_verbs);
}
// Each verb is bound once. Those whose result several ranks share are not: it lies in memory that is no rank's array.
static_assert(std::ranges::all_of(detail::verb_rows, [](detail::verb_row const& row) {
  return times_bound(row.what) == (detail::shares_result(row.what) ? 0 : 1);
}));
static_assert(std::apply([](auto const&... each) { return (each.fits() && ...); }, bound_verbs));

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
  return array_call({"Team.allreduce", verb::allreduce}, mine, mine, operation).call;
}

void add_members(py::module_& m) {
  py::class_<python_request>(m, "Request",
                             "An operation under way, which keeps its arrays; only its rank's thread uses it.")
      .def("test", &python_request::test, "Advances it; True once it is complete.")
      .def("wait", &python_request::wait, "Returns once it is complete: results are in the arrays that were passed.");

  member_class one(
      m, "Member",
      "One rank; collectives are called by every rank of the team, with the same arguments. What is only read may be "
      "an array, a number or a list. What is written to is a numpy array or another writable buffer: array.array, "
      "memoryview.");
  one.def_property_readonly("rank", [](python_member const& me) { return me.get().rank(); })
      .def_property_readonly("size", [](python_member const& me) { return me.get().size(); });
  std::apply([&](auto const&... each) { (each.bind_to(one), ...); }, bound_verbs);
}

}  // namespace coset::python
