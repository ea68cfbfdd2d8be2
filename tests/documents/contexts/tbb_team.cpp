#include <coset/tbb.hpp>
#include <vector>
void reduce_blocks(coset::rank_t blocks, std::vector<std::vector<double>>& arrays) {
  // SNIPPET
}
