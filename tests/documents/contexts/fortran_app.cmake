enable_language(Fortran)
add_executable(app main.f90)
# SNIPPET
