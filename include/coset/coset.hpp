// SPDX-License-Identifier: Apache-2.0
// All headers for teams, collectives, plans and reducers. Left out: coset/async/ (what goes on when requests are complete),
// coset/study/ (schedules to look at), coset/c_member.hpp, and the adapters coset/mpi.hpp, coset/omp.hpp and coset/tbb.hpp.
#pragma once

#include "coset/detail/cxx20.hpp"

#include "coset/buffer.hpp"
#include "coset/error.hpp"
#include "coset/operations.hpp"
#include "coset/plan.hpp"
#include "coset/reducers/joint_reducer.hpp"
#include "coset/reducers/reducer.hpp"
#include "coset/reducers/sparse_reducer.hpp"
#include "coset/reducers/targets.hpp"
#include "coset/request.hpp"
#include "coset/team.hpp"
#include "coset/topology.hpp"
#include "coset/updates/scatter_add.hpp"
#include "coset/verbs/all_to_all.hpp"
#include "coset/verbs/allgather.hpp"
#include "coset/verbs/allreduce.hpp"
#include "coset/verbs/allreduce_view.hpp"
#include "coset/verbs/barrier.hpp"
#include "coset/verbs/broadcast.hpp"
#include "coset/verbs/gather.hpp"
#include "coset/verbs/reduce.hpp"
#include "coset/verbs/reduce_scatter.hpp"
#include "coset/verbs/reduce_shared.hpp"
#include "coset/verbs/scan.hpp"
#include "coset/verbs/scatter.hpp"
#include "coset/verbs/together.hpp"
#include "coset/verbs/verb.hpp"
