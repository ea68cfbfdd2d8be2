#include <algorithm>
#include <coset/coset.hpp>
#include <vector>
void on_each_rank(coset::team& team, coset::member& me, std::vector<double>& in, std::vector<double>& out) {
  // SNIPPET
}
