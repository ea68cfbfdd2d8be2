// SPDX-License-Identifier: Apache-2.0
// An object that can be loaded and unloaded.
int coset_of_some_object(void) { return 1; }
