// SPDX-License-Identifier: Apache-2.0
// Everything of coset that needs neither MPI nor an adapter.
#pragma once

#include "coset/allgather.hpp"
#include "coset/allreduce.hpp"
#include "coset/allreduce_view.hpp"
#include "coset/barrier.hpp"
#include "coset/broadcast.hpp"
#include "coset/buffer.hpp"
#include "coset/error.hpp"
#include "coset/operations.hpp"
#include "coset/plan.hpp"
#include "coset/reduce.hpp"
#include "coset/reduce_scatter.hpp"
#include "coset/reduce_shared.hpp"
#include "coset/reducer.hpp"
#include "coset/request.hpp"
#include "coset/scan.hpp"
#include "coset/team.hpp"
#include "coset/topology.hpp"
#include "coset/verb.hpp"
