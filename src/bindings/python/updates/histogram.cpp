// SPDX-License-Identifier: Apache-2.0
// histogram(): numpy's bins and edges, counted by several threads without the GIL.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/text/format.hpp"
#include "bindings/python/module.hpp"
#include "bindings/python/signals.hpp"
#include "bindings/python/updates/loops.hpp"
#include "bindings/python/updates/numpy.hpp"
#include "bindings/python/updates/spare_team.hpp"
#include "coset/error.hpp"

namespace coset::python {
namespace {

using namespace pybind11::literals;

/// Doubles, or floats as doubles: bins are the same, as each float is one of the doubles.
struct samples {
  void const* first;
  std::ptrdiff_t stride;  ///< in elements
  bool is_double;

  double operator[](std::size_t k) const noexcept {
    std::ptrdiff_t const at = static_cast<std::ptrdiff_t>(k) * stride;
    return is_double ? static_cast<double const*>(first)[at]
                     : static_cast<double>(static_cast<float const*>(first)[at]);
  }
};

/// The bin of each sample among equal ones: numpy's estimate, corrected by the edges as numpy does. Samples outside, and NaN,
/// belong to one bin more, which nobody sees.
struct equal_bins {
  samples of;
  std::span<double const> edges;
  double norm;

  std::size_t operator()(std::size_t iteration) const noexcept {
    double const sample = of[iteration];
    std::size_t const bins = edges.size() - 1;
    if (!(sample >= edges.front() && sample <= edges.back())) return bins;
    std::size_t bin = std::min(static_cast<std::size_t>((sample - edges.front()) * norm), bins - 1);
    bin -= sample < edges[bin] ? 1 : 0;
    return bin + (sample >= edges[bin + 1] && bin != bins - 1 ? 1 : 0);
  }
};

/// The bin among any: [edge, next edge), of the last with its right edge.
struct any_bins {
  samples of;
  std::span<double const> edges;

  std::size_t operator()(std::size_t iteration) const noexcept {
    double const sample = of[iteration];
    std::size_t const bins = edges.size() - 1;
    if (!(sample >= edges.front() && sample <= edges.back())) return bins;
    auto const after = std::upper_bound(edges.begin(), edges.end(), sample);
    if (after != edges.end()) return static_cast<std::size_t>(after - edges.begin()) - 1;
    // Of several last bins that are empty and equal the last one has the edge.
    return bins - 1;
  }
};

struct bounds {
  double least = std::numeric_limits<double>::infinity(), greatest = -least;
  bool has_nan = false;
};

bounds bounds_of(team* with, samples const& of, std::size_t count) {
  bounds all;
  std::mutex uniting;
  share_out(with, count, [&](std::size_t begin, std::size_t end) {
    bounds here;
    for (; begin < end; ++begin) {
      double const sample = of[begin];
      here.least = sample < here.least ? sample : here.least;
      here.greatest = here.greatest < sample ? sample : here.greatest;
      here.has_nan |= sample != sample;
    }
    std::lock_guard const lock(uniting);
    all = {std::min(all.least, here.least), std::max(all.greatest, here.greatest), all.has_nan || here.has_nan};
  });
  return all;
}

/// Real numbers in one dimension; what is neither float nor double becomes a double.
row flat(py::object const& given, char const* name) {
  py::array found(numpy("ravel", given));
  char const kind = found.dtype().kind();
  bool const is_float = kind == 'f' && (found.itemsize() == 4 || found.itemsize() == 8);
  if (!is_float && kind != 'i' && kind != 'u' && kind != 'b') {
    throw argument_error(text::format("histogram: {} has elements of {}: pass float32, float64, integers or bool", name,
                                      words(found.dtype())));
  }
  if (!is_float) found = converted(found, py::str("float64"));
  return row(std::move(found));
}

class histogram_call {
 public:
  histogram_call(py::object a, py::object bins, py::object range, py::object weights)
      : given_(numpy("asarray", a)),
        weights_(std::move(weights)),
        sampled_(flat(given_, "a")),
        with_(sampled_.count(), 0) {
    bool const is_double = sampled_.array.itemsize() == 8;
    samples_ = {sampled_.array.data(), sampled_.stride / sampled_.array.itemsize(), is_double};
    if (!weights_.is_none()) weigh();
    are_equal_ = numpy("ndim", bins).cast<int>() == 0;
    edges_ = edges_of(bins, range);
    compared_ = row(converted(edges_, py::str("float64")));
  }

  py::tuple result(bool density) {
    py::object counts = counted();
    if (density) {
      py::object const widths = converted(py::array(numpy("diff", edges_)), py::str("float64"));
      counts = numpy("divide", numpy("divide", counts, widths), method(counts, "sum"));
    }
    return py::make_tuple(counts, edges_);
  }

 private:
  void weigh() {
    weights_ = numpy("asarray", weights_);
    if (!weights_.attr("shape").equal(given_.attr("shape")))
      throw py::value_error("histogram: weights have another shape than a");
    weighed_ = flat(weights_, "weights");
    if (weighed_.array.itemsize() == 4) weighed_ = row(converted(weighed_.array, py::str("float64")));
  }

  /// numpy finds the edges; what takes long of that, the least and the greatest of many floats, is found here.
  py::array edges_of(py::object const& bins, py::object const& range) {
    constexpr char const* of_numpy = "histogram_bin_edges";
    bool const is_named = py::isinstance<py::str>(bins), is_float = words(given_.attr("dtype").attr("kind")) == "f";
    if (is_named || !are_equal_ || !range.is_none() || !is_float || sampled_.count() == 0)
      return py::array(numpy(of_numpy, given_, bins, range, weights_));
    bounds const found = without_gil([&] { return bounds_of(with_.get(), samples_, sampled_.count()); });
    if (found.has_nan) return py::array(numpy(of_numpy, given_, bins));  // numpy says what is wrong
    py::object const type = given_.attr("dtype").attr("type");
    return py::array(
        numpy(of_numpy, numpy("empty", 0, given_.attr("dtype")), bins,
              py::make_tuple(called(type, py::make_tuple(found.least)), called(type, py::make_tuple(found.greatest)))));
  }

  py::object counted() {
    std::span<double const> const edges(compared_.data<double>(), compared_.count());
    bool const is_weighed = !weights_.is_none();
    py::array all(numpy("zeros", edges.size(), is_weighed ? "float64" : "int64"));
    void* const into = all.mutable_data();
    if (edges.size() > 1)
      without_gil([&] {
        double const norm = static_cast<double>(edges.size() - 1) / (edges.back() - edges.front());
        if (are_equal_ && std::isnormal(norm)) {
          count_in(equal_bins{samples_, edges, norm}, into);
        } else {
          count_in(any_bins{samples_, edges}, into);
        }
      });
    py::object const counts = all[py::slice(0, static_cast<py::ssize_t>(edges.size()) - 1, 1)];
    return is_weighed ? method(counts, "astype", weights_.attr("dtype")) : method(counts, "copy");
  }

  template <class Bins>
  void count_in(Bins const& bins, void* into) {
    std::size_t const count = sampled_.count(), length = bins.edges.size();
    if (weights_.is_none()) {
      update(with_.get(), std::span(static_cast<std::int64_t*>(into), length), plus(), bins, detail::count_one(), count,
             {});
    } else {
      update(with_.get(), std::span(static_cast<double*>(into), length), plus(), bins,
             strided_values<double>{weighed_.data<double>(), weighed_.stride / 8}, count, {.required = bits::serial});
    }
  }

  py::object given_, weights_;
  row sampled_, weighed_, compared_;
  samples samples_{};
  spare_team with_;
  bool are_equal_ = false;  ///< bins
  py::array edges_;
};

py::tuple histogram(py::object const& a, py::object const& bins, py::object const& range, py::object const& density,
                    py::object const& weights) {
  return histogram_call(a, bins, range, weights).result(!density.is_none() && density.cast<bool>());
}

}  // namespace

void add_histogram(py::module_& m) {
  m.def("histogram", &histogram, "a"_a, "bins"_a = 10, "range"_a = py::none(), "density"_a = py::none(),
        "weights"_a = py::none(),
        "numpy.histogram() by several threads, without the GIL: (histogram, edges), each sample in numpy's bin. "
        "Weights are "
        "added as float64 in the array's order, and converted to their type at the end.");
}

}  // namespace coset::python
