// SPDX-License-Identifier: Apache-2.0
// Operations of C programs.

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "base/text/format.hpp"
#include "bindings/c/status.hpp"
#include "bindings/c/tables.hpp"
#include "numa/process/fork.hpp"

namespace coset::capi {
namespace {

/// The memory in which a tile is folded: on the stack, or for a larger element on the heap.
class tile {
 public:
  explicit tile(std::size_t element_bytes) : length_(std::max<std::size_t>(detail::tile_bytes / element_bytes, 1)) {
    if (element_bytes > detail::tile_bytes)
      on_heap_ = std::make_unique_for_overwrite<line[]>((element_bytes + sizeof(line) - 1) / sizeof(line));
  }
  std::size_t length() const { return length_; }
  std::byte* data() { return on_heap_ ? on_heap_[0].bytes : on_stack_; }

 private:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  alignas(64) std::byte on_stack_[detail::tile_bytes];
  std::size_t const length_;
  std::unique_ptr<line[]> on_heap_;
};

/// As detail::plain_fold: a destination may be a source that is folded late, so a whole tile is folded before any of it
/// is stored.
void user_fold(void const* context, void* const* to, std::uint32_t destinations, void const* const* from,
               std::uint32_t sources, std::size_t count) {
  auto const& op = *static_cast<user_operation const*>(context);
  tile result(op.element_bytes);
  for (std::size_t done = 0; done < count; done += result.length()) {
    std::size_t const length = std::min(result.length(), count - done), offset = done * op.element_bytes,
                      bytes = length * op.element_bytes;
    std::memcpy(result.data(), static_cast<std::byte const*>(from[0]) + offset, bytes);
    for (std::uint32_t s = 1; s < sources; ++s)
      op.fold(result.data(), static_cast<std::byte const*>(from[s]) + offset, length, op.context);
    for (std::uint32_t d = 0; d < destinations; ++d)
      std::memcpy(static_cast<std::byte*>(to[d]) + offset, result.data(), bytes);
  }
}

constexpr detail::fold_set user_folds = [] {
  detail::fold_set set{};
  set.any = user_fold;
  set.of.fill(user_fold);
  return set;
}();

/// A table and the names that it refers to.
struct named_table {
  std::string type, operation;
  detail::reduction_table table;
};

/// Equal operations share a table, which is never freed: ranks keep plans by its address.
detail::reduction_table const& table_of(std::string const& name, std::size_t element_bytes, std::int32_t flags) {
  static constinit numa::fork_safe_mutex making;
  static auto& made = *new std::map<std::tuple<std::string, std::size_t, std::int32_t>, named_table>;
  std::lock_guard const lock(making);
  auto const [at, is_new] = made.try_emplace({name, element_bytes, flags});
  named_table& entry = at->second;
  if (is_new) {
    entry.type = text::format("elements of {} bytes", element_bytes);
    entry.operation = name;
    detail::reduction_table& table = entry.table;
    table.folds = &user_folds;
    table.element_bytes = table.partial_bytes = element_bytes;
    table.type = entry.type;
    table.operation = entry.operation;
    table.hash = detail::hash_of(text::format("C {} {} {}", element_bytes, flags, name));
    table.exact = (flags & COSET_EXACT) != 0;
    table.commutative = (flags & COSET_NONCOMMUTATIVE) == 0;
  }
  return entry.table;
}

}  // namespace
}  // namespace coset::capi

using namespace coset::capi;

coset_status coset_operation_create(char const* name, coset_fold* fold, void* context, size_t element_bytes,
                                    int32_t flags, coset_operation* made) {
  return guarded([&] {
    require(reinterpret_cast<void const*>(fold), "the function of an operation");
    require(made, "the place for an operation");
    if (element_bytes == 0 || element_bytes > most_struct_bytes)
      throw coset::argument_error(coset::text::format("an operation on elements of {} bytes", element_bytes));
    if ((flags & ~(COSET_NONCOMMUTATIVE | COSET_EXACT)) != 0)
      throw coset::argument_error(coset::text::format("there are no flags {:#x} of an operation", flags));
    std::string const called =
        name != nullptr ? name : coset::text::format("function {}", reinterpret_cast<void const*>(fold));
    auto const kept = std::make_shared<user_operation const>(
        user_operation{fold, context, element_bytes, &table_of(called, element_bytes, flags)});
    *made = reinterpret_cast<coset_operation>(new operation_handle(kept));
  });
}

coset_status coset_operation_free(coset_operation op) {
  return guarded([&] {
    if (op != 0) delete handle_of(op);
  });
}
