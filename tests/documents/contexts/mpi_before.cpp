#include <mpi.h>
#include <vector>
void add_to(std::vector<double>&);
void reduce(std::vector<double>& x) {
  // SNIPPET
}
