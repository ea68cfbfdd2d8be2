// SPDX-License-Identifier: Apache-2.0
// Reducers.
#include <algorithm>
#include <cstring>
#include <span>

#include "base/text/format.hpp"
#include "bindings/c/handles.hpp"
#include "bindings/c/options.hpp"
#include "bindings/c/status.hpp"
#include "bindings/c/tables.hpp"

namespace coset::capi {
namespace {

using detail::private_copy;

/// Copies one element, then copies the copies, twice as many each time.
void fill(void const* element, std::size_t element_bytes, void* to, std::size_t count) {
  if (count == 0) return;
  auto* const bytes = static_cast<std::byte*>(to);
  std::size_t const all = count * element_bytes;
  std::memcpy(bytes, element, element_bytes);
  for (std::size_t done = element_bytes; done < all; done += std::min(done, all - done))
    std::memcpy(bytes + done, bytes, std::min(done, all - done));
}

std::shared_ptr<void const> copied(void const* element, std::size_t bytes) {
  auto copy = std::make_shared<std::byte[]>(bytes);
  std::memcpy(copy.get(), element, bytes);
  return copy;
}

detail::reduced_array array_of(std::size_t count, coset_type type, coset_operation op, void const* identity) {
  reduction const how = reduction_of(type, op);
  if (identity == nullptr) identity = identity_of(type, op);
  if (identity == nullptr)
    throw argument_error(text::format("operation {} needs an identity to make a reducer", how.table->operation));
  return {.count = count,
          .reduction = how.table,
          .operation = how.kept(),
          .identity = copied(identity, bytes_of(type)),
          .fill = fill};
}

void fold(detail::reducer_core& core, void* const* into, coset_team* with) {
  if (with == nullptr) return detail::fold_part(core, into, 0, 1);
  with->of->run([&](member& me) { detail::fold_part(core, into, me.rank(), me.size()); });
}

void require_number(coset_joint_reducer const* reducer, std::size_t number) {
  require(reducer, "the joint reducer");
  if (number != reducer->counts.size())
    throw argument_error(text::format("{} arrays for a joint reducer of {}", number, reducer->counts.size()));
}

void require_targets(coset_joint_reducer const* reducer, void* const* into, std::size_t number) {
  require_number(reducer, number);
  require(into, "the list of what to combine into");
}

void list_elements(coset_joint_reducer const& reducer, private_copy const& copy, void** elements) {
  for (std::size_t k = 0; k < reducer.counts.size(); ++k) elements[k] = copy.data + detail::offset_of(*reducer.core, k);
}

}  // namespace
}  // namespace coset::capi

using namespace coset::capi;

coset_status coset_reducer_create(size_t count, coset_type type, coset_operation op, void const* identity,
                                  coset_reducer_options const* options, coset_reducer** made) {
  return guarded([&] {
    require(made, "the place for a reducer");
    auto const c = options_of(options, coset_reducer_options COSET_REDUCER_OPTIONS, "COSET_REDUCER_OPTIONS");
    auto array = array_of(count, type, op, identity);
    bool const sparse = c.block_bytes != 0 || c.most_bytes != 0;
    auto core = sparse ? coset::detail::make_sparse_reducer(std::move(array),
                                                            {.block_bytes = c.block_bytes, .most_bytes = c.most_bytes})
                       : coset::detail::make_reducer({std::move(array)});
    *made = new coset_reducer{std::move(core), count, bytes_of(type)};
  });
}

coset_status coset_reducer_local(coset_reducer* reducer, size_t first, size_t count, void** elements) {
  return guarded([&] {
    require(reducer, "the reducer");
    require(elements, "the place for elements");
    *elements =
        coset::detail::elements_of(*reducer->core, coset::detail::copy_of_this_thread(*reducer->core), first, count);
  });
}

coset_status coset_reducer_local_numbered(coset_reducer* reducer, uint32_t number, size_t first, size_t count,
                                          void** elements) {
  return guarded([&] {
    require(reducer, "the reducer");
    require(elements, "the place for elements");
    *elements =
        coset::detail::elements_of(*reducer->core, coset::detail::copy_numbered(*reducer->core, number), first, count);
  });
}

coset_status coset_reducer_combine(coset_reducer* reducer, void* into, coset_team* with) {
  return guarded([&] {
    require(reducer, "the reducer");
    fold(*reducer->core, &into, with);
  });
}

coset_status coset_reducer_combine_part(coset_reducer* reducer, void* into, uint32_t part, uint32_t parts) {
  return guarded([&] {
    require(reducer, "the reducer");
    coset::detail::fold_part(*reducer->core, &into, part, parts);
  });
}

coset_status coset_reducer_combine_ranks(coset_reducer* reducer, void* into, coset_member* me, coset_combining how) {
  return guarded([&] {
    require(reducer, "the reducer");
    require(me, "the member");
    coset::detail::fold_by_ranks(*reducer->core, &into, &reducer->count, me->of->state(),
                                 static_cast<coset::combining>(how));
  });
}

coset_status coset_reducer_reset(coset_reducer* reducer) {
  return guarded([&] {
    require(reducer, "the reducer");
    coset::detail::reset(*reducer->core);
  });
}

coset_status coset_reducer_free(coset_reducer* reducer) {
  return guarded([&] { delete reducer; });
}

coset_status coset_joint_reducer_create(coset_reduced const* things, size_t number, coset_joint_reducer** made) {
  return guarded([&] {
    require(made, "the place for a joint reducer");
    if (number > 0) require(things, "the list of things to reduce into");
    std::vector<coset::detail::reduced_array> arrays;
    std::vector<std::size_t> counts;
    for (coset_reduced const& each : std::span(things, number)) {
      arrays.push_back(array_of(each.count, each.type, each.operation, each.identity));
      counts.push_back(each.count);
    }
    *made = new coset_joint_reducer{coset::detail::make_reducer(std::move(arrays)), std::move(counts)};
  });
}

coset_status coset_joint_reducer_local(coset_joint_reducer* reducer, void** elements, size_t number) {
  return guarded([&] {
    require_number(reducer, number);
    require(elements, "the place for elements");
    list_elements(*reducer, coset::detail::copy_of_this_thread(*reducer->core), elements);
  });
}

coset_status coset_joint_reducer_local_numbered(coset_joint_reducer* reducer, uint32_t copy, void** elements,
                                                size_t number) {
  return guarded([&] {
    require_number(reducer, number);
    require(elements, "the place for elements");
    list_elements(*reducer, coset::detail::copy_numbered(*reducer->core, copy), elements);
  });
}

coset_status coset_joint_reducer_combine(coset_joint_reducer* reducer, void* const* into, size_t number,
                                         coset_team* with) {
  return guarded([&] {
    require_targets(reducer, into, number);
    fold(*reducer->core, into, with);
  });
}

coset_status coset_joint_reducer_combine_part(coset_joint_reducer* reducer, void* const* into, size_t number,
                                              uint32_t part, uint32_t parts) {
  return guarded([&] {
    require_targets(reducer, into, number);
    coset::detail::fold_part(*reducer->core, into, part, parts);
  });
}

coset_status coset_joint_reducer_combine_ranks(coset_joint_reducer* reducer, void* const* into, size_t number,
                                               coset_member* me, coset_combining how) {
  return guarded([&] {
    require_targets(reducer, into, number);
    require(me, "the member");
    coset::detail::fold_by_ranks(*reducer->core, into, reducer->counts.data(), me->of->state(),
                                 static_cast<coset::combining>(how));
  });
}

coset_status coset_joint_reducer_reset(coset_joint_reducer* reducer) {
  return guarded([&] {
    require(reducer, "the joint reducer");
    coset::detail::reset(*reducer->core);
  });
}

coset_status coset_joint_reducer_free(coset_joint_reducer* reducer) {
  return guarded([&] { delete reducer; });
}
