# SPDX-License-Identifier: Apache-2.0
# coset_find_python(): sets Python3_EXECUTABLE to the first python3 of PATH that has numpy and Python's headers, unless the
# user has named one. The very first may be a version manager's that has neither, and the module would go untested for it.
# Without any it stays unset: then whatever FindPython finds will do for scripts.
function(coset_find_python)
  if(DEFINED Python3_EXECUTABLE OR DEFINED Python3_ROOT_DIR)
    return()
  endif()
  string(REPLACE ":" ";" folders "$ENV{PATH}:/usr/bin")
  foreach(folder IN LISTS folders)
    execute_process(
      COMMAND ${folder}/python3 -c "if True:
        import importlib.util, os, sys, sysconfig
        headers = os.path.join(sysconfig.get_path('include'), 'Python.h')
        print(sys.executable if importlib.util.find_spec('numpy') and os.path.exists(headers) else '')"
      OUTPUT_VARIABLE found ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE)
    if(found)
      set(Python3_EXECUTABLE ${found} CACHE FILEPATH "A Python that has numpy and headers")
      return()
    endif()
  endforeach()
endfunction()
