// SPDX-License-Identifier: Apache-2.0
// Members of C++ bodies, in the form of those of coset_team_run.
#include "coset/c_member.hpp"

#include "bindings/c/handles.hpp"

namespace coset::inline COSET_ABI {

c_member::c_member(member& me) : made_(new coset_member{&me, coset_member::origin::run}) {}
c_member::~c_member() = default;

c_member::operator coset_member*() const noexcept { return made_.get(); }

}  // namespace coset
