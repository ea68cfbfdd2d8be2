#include <coset/coset.hpp>
#include <cstdio>
#include <thread>
#include <vector>
void statements() {
  // SNIPPET
}
