// SPDX-License-Identifier: Apache-2.0
// The hierarchy that latencies show where the machine tells none.
#pragma once

#include <vector>

#include "coset/error.hpp"

namespace coset::calibration {

/// Who is near whom: every processor in one cluster, clusters in the order of their first, members ascending.
using clustering = std::vector<std::vector<rank_t>>;

/// Nested clusterings of the processors whose one-way latencies these are, the finest first; none where all pairs are
/// alike but for noise. What is not positive and finite counts as not measured. Throws argument_error if it is not square.
///
/// 1. A pair's distance is the logarithm of its faster direction, since interruptions only add.
/// 2. Average linkage (Sokal & Michener 1958) joins the nearest clusters one by one; where its heights jump are the
///    partitions to look at, eight at most.
/// 3. In each of them processors move while that lessens the sum of deviations from the median of each kind, the kinds
///    being pairs within and pairs between clusters: one wrong pair costs its own deviation and no more.
/// 4. A partition counts if between and within differ by more than noise does (see the constants), on two pairs of each
///    kind at least: one pair proves nothing. The one with the least sum wins.
/// 5. The same again inside its clusters, and between them.
///
/// O(n³) for n processors. In clusters of two or three a single pair that is measured too far tips the balance: there is
/// as much for them as against. Measure more than once.
std::vector<clustering> clusters_of(std::vector<std::vector<double>> const& latency);

/// The mean of the middle two where their number is even; NaN if there are none.
double median(std::vector<double> values);

}  // namespace coset::calibration
