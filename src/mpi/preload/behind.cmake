# SPDX-License-Identifier: Apache-2.0
# The archive FROM as TO, with MPI_Send called PMPI_Send and so on.
execute_process(COMMAND ${NM} -u -j ${FROM} OUTPUT_VARIABLE symbols
  ERROR_QUIET COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "MPI_[A-Za-z_]+" symbols "${symbols}")
list(REMOVE_DUPLICATES symbols)
list(TRANSFORM symbols REPLACE "(.+)" "\\1 P\\1")
list(JOIN symbols "\n" symbols)
file(WRITE ${TO}.names "${symbols}\n")
execute_process(COMMAND ${OBJCOPY} --redefine-syms=${TO}.names ${FROM} ${TO} COMMAND_ERROR_IS_FATAL ANY)
