#include <coset/coset.hpp>
#include <vector>

struct layer {
  std::vector<float> gradient;
  void differentiate();
  void update(unsigned ranks);
};

// SNIPPET
