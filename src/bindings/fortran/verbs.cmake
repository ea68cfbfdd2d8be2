# SPDX-License-Identifier: Apache-2.0
# The verbs of module coset, one row each: a verb of include/coset/verbs/verb.hpp, whose number is taken from there, a
# file of shapes/, and the forms that it has. `planned`: programs get its constant for plans. CALLED is the name of its
# blocking subroutine if that is not the verb's. RESULT is what tests expect of it on rank `rank` of the ranks 0 to `last`:
# of_rank(r) is what rank r gave, `in` that of this rank, up_to(r) the sum of ranks 0 to r, and `before` what its array
# held. Other shapes than `whole` say that themselves.
coset_fortran_verb(allreduce      whole            blocking started planned RESULT "up_to(last)")
coset_fortran_verb(reduce         to_root          blocking started planned)
coset_fortran_verb(reduce_scatter to_pieces        blocking started planned)
coset_fortran_verb(allgather      from_pieces      blocking started planned)
coset_fortran_verb(broadcast      from_root        blocking started planned)
coset_fortran_verb(scan           whole            blocking started planned RESULT "up_to(rank)")
coset_fortran_verb(exclusive_scan whole            blocking started planned
                   RESULT "merge(before, up_to(rank - 1), rank == 0)")
coset_fortran_verb(barrier        barrier          blocking started)  # its plans have a type of their own
coset_fortran_verb(reduce_shared  shared           blocking started planned)
coset_fortran_verb(allreduce_view view             blocking)  # a view lasts until the next call
coset_fortran_verb(gather         pieces_to_root   blocking started planned)
# coset_scatter is a placement of teams.
coset_fortran_verb(scatter        pieces_from_root blocking started planned CALLED scatter_from)
coset_fortran_verb(all_to_all     all_to_all       blocking started planned)
