// SPDX-License-Identifier: Apache-2.0
// The types whose layout programs are compiled with: check.py records them as arguments of functions that nobody calls.
#include <coset/coset.h>
#include <coset/c_member.hpp>
#include <coset/coset.hpp>
#include <coset/detail/task_run.hpp>

namespace coset::inline COSET_ABI {

using numbers = coset::reducer<double>;
using sparse_numbers = coset::sparse_reducer<double>;
using operation = coset::plan<double>;

extern "C" {
void abi_teams(team&, team_options&, member&, member_guard&, c_member&, detail::task_run&) {}
void abi_machine(topology&, numa_node&, processor&, placement, waiting) {}
void abi_calls(request&, verb, detail::call&, detail::reduction_table&, detail::fold_set&, detail::form) {}
void abi_built_in(detail::built_in_operation, detail::built_in_element) {}
void abi_plans(operation&, plan_options&, bits, detail::plan_pair&, detail::plan_arrays&) {}
void abi_reducers(numbers&, sparse_numbers&, sparse_options&, detail::reduced_array&, combining) {}
void abi_copies(detail::private_copy&, detail::recent_copy&, detail::tracking, detail::mark) {}
void abi_elements(float16&, bfloat16&, located<double>&, detail::binned_sum&, buffer<double>&, detail::unmap&) {}
void abi_errors(error&, argument_error&, topology_error&, mismatch_error&, schedule_error&, aborted&, timed_out&,
                out_of_memory&) {}
void abi_c(coset_team_options*, coset_plan_options*, coset_reducer_options*, coset_reduced*, coset_request*) {}
void abi_c_elements(coset_float32_location*, coset_float64_location*, coset_int32_location*, coset_int64_location*) {}
}

}  // namespace coset
