// SPDX-License-Identifier: Apache-2.0
// Everything of coset that needs neither MPI nor an adapter.
#pragma once

#include "coset/allreduce.hpp"
#include "coset/barrier.hpp"
#include "coset/error.hpp"
#include "coset/operations.hpp"
#include "coset/plan.hpp"
#include "coset/team.hpp"
#include "coset/topology.hpp"
