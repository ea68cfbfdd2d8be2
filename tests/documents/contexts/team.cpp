#include <coset/coset.hpp>
#include <vector>
void with_team(coset::team& team, std::size_t n) {
  // SNIPPET
}
