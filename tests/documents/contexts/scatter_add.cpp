#include <coset/omp.hpp>
#include <tuple>
#include <vector>
struct particle {
  std::size_t cell;
  double charge, speed;
};
void update(std::vector<double>& bins, std::vector<int>& counts, std::vector<double>& most,
            std::vector<int> const& keys, std::vector<double> const& weights, std::vector<double>& charge,
            std::vector<double>& current, std::vector<particle> const& particles) {
  // SNIPPET
}
