#include <algorithm>
#include <coset/omp.hpp>
#include <vector>
struct particle {
  std::size_t cell;
  double charge, speed;
};
void deposit(std::vector<particle> const& particles, std::vector<double>& charge, std::vector<double>& current) {
  // SNIPPET
}
