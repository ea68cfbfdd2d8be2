#include <coset/coset.h>
#include <stdio.h>
void on_each_rank(coset_member* me) {
  // SNIPPET
}
