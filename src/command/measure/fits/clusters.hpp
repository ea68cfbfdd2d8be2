// SPDX-License-Identifier: Apache-2.0
// The hierarchy that latencies show if the machine reports none.
#pragma once

#include <vector>

#include "planning/calibration/hidden.hpp"

namespace coset::calibration {

/// Nested clusterings of the processors with these one-way latencies, the finest first; none if pairs are equal
/// but for noise. Latencies not positive and finite are unknown. Throws argument_error if the matrix is not square.
///
/// 1. A pair's distance is the logarithm of its faster direction, since interruptions only add.
/// 2. Average linkage (Sokal & Michener 1958) joins the nearest clusters one by one; its heights' greatest jumps
///    give the partitions to look at, eight at most.
/// 3. In each partition processors move if this reduces the sum of deviations from the median of each kind, the kinds
///    being pairs within and pairs between clusters. So one wrong pair costs only its own deviation.
/// 4. A partition counts if between and within differ by more than noise does (see the constants), on two pairs of each
///    kind at least: one pair proves nothing. The partition with the least sum wins.
/// 5. The same is repeated inside its clusters, and between them.
///
/// O(n³) for n processors. In clusters of two or three a single pair measured as too far decides wrongly: there is
/// as much for the cluster as against it. Measure more than once.
std::vector<clustering> clusters_of(std::vector<std::vector<double>> const& latency);

}  // namespace coset::calibration
