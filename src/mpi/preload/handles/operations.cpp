// SPDX-License-Identifier: Apache-2.0
#include "mpi/preload/handles/operations.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "mpi/preload/handles/packing.hpp"
#include "mpi/preload/real.hpp"

namespace coset::interpose {
namespace {

struct named {
  MPI_Op handle;
  coset_operation native;  ///< 0: only by MPI
  char const* name;
  unsigned groups;  ///< for which MPI defines it: a bit each
};

constexpr unsigned bit(group of) { return 1u << static_cast<unsigned>(of); }

std::array<named, 12> const& names() {
  static std::array<named, 12> const all = [] {
    constexpr unsigned ordered =
        bit(group::integer) | bit(group::fortran_integer) | bit(group::floating) | bit(group::multi_language);
    constexpr unsigned numbers = ordered | bit(group::complex);
    constexpr unsigned truth = bit(group::integer) | bit(group::logical) | bit(group::fortran_logical);
    constexpr unsigned bits =
        bit(group::integer) | bit(group::fortran_integer) | bit(group::byte) | bit(group::multi_language);
    return std::array<named, 12>{{{MPI_SUM, COSET_PLUS, "MPI_SUM", numbers},
                                  {MPI_PROD, COSET_MULTIPLIES, "MPI_PROD", numbers},
                                  {MPI_MIN, COSET_MINIMUM, "MPI_MIN", ordered},
                                  {MPI_MAX, COSET_MAXIMUM, "MPI_MAX", ordered},
                                  {MPI_BAND, COSET_BIT_AND, "MPI_BAND", bits},
                                  {MPI_BOR, COSET_BIT_OR, "MPI_BOR", bits},
                                  {MPI_BXOR, COSET_BIT_XOR, "MPI_BXOR", bits},
                                  {MPI_LAND, COSET_LOGICAL_AND, "MPI_LAND", truth},
                                  {MPI_LOR, COSET_LOGICAL_OR, "MPI_LOR", truth},
                                  {MPI_LXOR, COSET_LOGICAL_XOR, "MPI_LXOR", truth},
                                  {MPI_MINLOC, 0, "MPI_MINLOC", bit(group::pair)},
                                  {MPI_MAXLOC, 0, "MPI_MAXLOC", bit(group::pair)}}};
  }();
  return all;
}

named const* predefined(MPI_Op handle) {
  auto const& all = names();
  auto const at = std::ranges::find(all, handle, &named::handle);
  return at != all.end() ? &*at : nullptr;
}

/// An operation that MPI carries out.
struct by_mpi {
  MPI_Op operation;
  datatype elements;
  bool commutes;
  coset_operation made = 0;
};

/// left[i] = left[i] ∘ right[i]. MPI_Reduce_local() leaves its result in the right operand, which here is an input, so
/// one that does not commute works on a copy.
void fold(void* left, void const* right, std::size_t count, void* context) {
  auto const& by = *static_cast<by_mpi const*>(context);
  auto const length = static_cast<MPI_Count>(count);
  auto* const result = static_cast<std::byte*>(left);
  if (by.commutes) {
    fold_images(static_cast<std::byte const*>(right), result, length, by.elements, by.operation);
    return;
  }
  std::size_t const bytes = count * static_cast<std::size_t>(by.elements.stride);
  auto const room = std::make_unique_for_overwrite<std::max_align_t[]>(bytes / sizeof(std::max_align_t) + 1);
  auto* const copy = reinterpret_cast<std::byte*>(room.get());
  std::memcpy(copy, right, bytes);
  fold_images(result, copy, length, by.elements, by.operation);
  std::memcpy(left, copy, bytes);
}

/// Those in use. Few: programs have a handful of operations.
class operations_left_to_mpi {
 public:
  combination of(MPI_Op operation, datatype const& elements, char const* name) {
    std::lock_guard const lock(using_);
    for (auto const& one : all_) {
      if (one->operation == operation && one->elements.handle == elements.handle) return as(*one);
    }
    int commutes = 0;
    PMPI_Op_commutative(operation, &commutes);
    auto one = std::make_unique<by_mpi>(by_mpi{operation, elements, commutes != 0});
    coset_status const status = coset_operation_create(name, fold, one.get(), static_cast<std::size_t>(elements.stride),
                                                       commutes != 0 ? 0 : COSET_NONCOMMUTATIVE, &one->made);
    if (status != COSET_SUCCESS) return {};
    all_.push_back(std::move(one));
    return as(*all_.back());
  }
  template <class Uses>
  void forget(Uses const& uses) noexcept {
    std::lock_guard const lock(using_);
    std::erase_if(all_, [&](auto const& one) {
      if (!uses(*one)) return false;
      coset_operation_free(one->made);
      return true;
    });
  }

 private:
  static combination as(by_mpi const& one) {
    auto const bytes = static_cast<std::size_t>(one.elements.stride);
    return {COSET_STRUCT(static_cast<coset_type>(bytes)), one.made, bytes, !one.commutes};
  }
  std::mutex using_;
  std::vector<std::unique_ptr<by_mpi>> all_;
};

// Never destroyed: programs may call MPI in destructors of static objects.
auto& left_to_mpi = *new operations_left_to_mpi;
/// Pairs of an operation and a datatype that MPI defines and this MPI lacks.
auto& lacking = *new std::vector<std::pair<MPI_Op, MPI_Datatype>>;

bool is_carried_out(MPI_Op by, MPI_Datatype type) {
  return std::ranges::find(lacking, std::pair(by, type)) == lacking.end();
}

}  // namespace

/// By trying: MPI says no by an error, which goes to the handler of MPI_COMM_WORLD or MPI_COMM_SELF.
void learn_operations() {
  std::array const heard = {MPI_COMM_WORLD, MPI_COMM_SELF};
  std::array<MPI_Errhandler, 2> handlers;
  for (std::size_t i = 0; i < heard.size(); ++i) {
    PMPI_Comm_get_errhandler(heard[i], &handlers[i]);
    PMPI_Comm_set_errhandler(heard[i], MPI_ERRORS_RETURN);
  }
  for_each_predefined([](datatype const& type) {
    std::vector<std::max_align_t> in(static_cast<std::size_t>(type.stride) / sizeof(std::max_align_t) + 1), inout(in);
    for (named const& name : names()) {
      bool const by_kernels = name.native != 0 && type.native != 0;
      if (by_kernels || (name.groups & bit(type.of)) == 0) continue;
      if (PMPI_Reduce_local(in.data(), inout.data(), 1, type.handle, name.handle) != MPI_SUCCESS)
        lacking.emplace_back(name.handle, type.handle);
    }
  });
  for (std::size_t i = 0; i < heard.size(); ++i) {
    PMPI_Comm_set_errhandler(heard[i], handlers[i]);
    PMPI_Errhandler_free(&handlers[i]);
  }
}

namespace {

combination looked_up(MPI_Op operation, datatype const& elements) {
  if (operation == MPI_OP_NULL || operation == MPI_NO_OP || operation == MPI_REPLACE) return {};
  named const* const name = predefined(operation);
  if (name != nullptr && (name->groups & bit(elements.of)) == 0) return {};
  if (name != nullptr && name->native != 0 && elements.native != 0)
    return {elements.native, name->native, elements.size, false};
  if (name != nullptr && !is_carried_out(operation, elements.handle)) return {};
  constexpr MPI_Aint most_bytes = MPI_Aint{1} << 30;
  if (elements.stride <= 0 || elements.stride > most_bytes) return {};
  return left_to_mpi.of(operation, elements, name != nullptr ? name->name : "an operation of MPI_Op_create()");
}

/// The latest that is of MPI's own handles, which never end.
struct remembered {
  MPI_Op operation = MPI_OP_NULL;
  datatype const* elements = nullptr;
  combination how = {};
};
remembered& latest_of_thread() noexcept { return kept_in<remembered>(coset_preload_of_thread.latest_operation); }

}  // namespace

combination combination_of(MPI_Op operation, datatype const& elements) {
  remembered& latest = latest_of_thread();
  if (latest.operation == operation && latest.elements == &elements) return latest.how;
  combination const how = looked_up(operation, elements);
  if (how.elements == elements.native && elements.native != 0) latest = {operation, &elements, how};
  return how;
}

bool is_exact(MPI_Op operation, datatype const& elements) noexcept {
  named const* const name = predefined(operation);
  if (name == nullptr || name->native == 0 || elements.native == 0) return false;
  return elements.of != group::floating && elements.of != group::complex;
}

void forget_operation(MPI_Op operation) noexcept {
  left_to_mpi.forget([&](by_mpi const& one) { return one.operation == operation; });
}

void forget_operations_on(MPI_Datatype elements) noexcept {
  left_to_mpi.forget([&](by_mpi const& one) { return one.elements.handle == elements; });
}

}  // namespace coset::interpose
