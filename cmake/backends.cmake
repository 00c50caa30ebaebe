# backends.cmake: a folder of src/backend/ with a module.cmake is a backend.
# That file looks for what the backend needs, and calls hf_backend(); nothing
# else in the build or in src/backend/registry.c names a backend.
#
#   hf_backend(NAME            the name of the folder
#     IF condition             false: it is left out, with the tests below
#     TABLES name...           each has a struct backend hf__backend_<name>
#     SCHEMES scheme...        what URLs of it begin with
#     WITHOUT text             what to do, where it is left out
#     PKG prefix...            of pkg_check_modules(): what it is linked with
#     USES folder...           of src/: left out if no backend uses them
#     TESTS folder...          of test/: they cannot do without it
#     SOURCES file...          besides those in the folder
#     TARGETS target...)       that make something it includes
#
# Left out with a backend are test/unit/backend/NAME, test/fault/NAME and
# test/fuzz/NAME too.
macro(hf_backend name)
  cmake_parse_arguments(b "" "WITHOUT"
    "IF;TABLES;SCHEMES;PKG;USES;TESTS;SOURCES;TARGETS" ${ARGN})
  list(APPEND HF_FOLDERS_USED_SOMETIMES ${b_USES})
  list(JOIN b_SCHEMES " " b_schemes)
  if(${b_IF})
    set(HF_BACKEND_${name} TRUE)
    list(APPEND HF_BACKENDS_BUILT ${name})
    list(APPEND HF_FOLDERS_USED ${b_USES})
    list(APPEND HF_BACKEND_SOURCES ${b_SOURCES})
    list(APPEND HF_BACKEND_TARGETS ${b_TARGETS})
    list(APPEND HF_BACKEND_PKGS ${b_PKG})
    foreach(table IN LISTS b_TABLES)
      string(APPEND HF_BACKEND_EXTERNS
        "extern const struct backend hf__backend_${table};\n")
      string(APPEND HF_BACKEND_TABLES " \\\n    &hf__backend_${table},")
    endforeach()
  else()
    set(HF_BACKEND_${name} FALSE)
    list(APPEND HF_FOLDERS_LEFT_OUT src/backend/${name}
      test/unit/backend/${name} test/fault/${name} test/fuzz/${name})
    list(TRANSFORM b_TESTS PREPEND test/)
    list(APPEND HF_FOLDERS_LEFT_OUT ${b_TESTS})
    string(APPEND HF_BACKEND_ABSENT
      " \\\n    {\"${b_schemes}\", \"${b_WITHOUT}\"},")
    message(STATUS "backend ${name}: left out: ${b_WITHOUT}")
  endif()
endmacro()

# Takes what is in a folder that is left out from a list of paths.
macro(hf_without_left_out paths)
  foreach(folder IN LISTS HF_FOLDERS_LEFT_OUT)
    list(FILTER ${paths} EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${folder}/")
  endforeach()
endmacro()

set(HF_FOLDERS_USED "")
set(HF_FOLDERS_USED_SOMETIMES "")
set(HF_FOLDERS_LEFT_OUT "")
set(HF_BACKENDS_BUILT "")
set(HF_BACKEND_SOURCES "")
set(HF_BACKEND_TARGETS "")
set(HF_BACKEND_PKGS "")
set(HF_BACKEND_EXTERNS "")
set(HF_BACKEND_TABLES "")
set(HF_BACKEND_ABSENT "")
file(GLOB HF_MODULES CONFIGURE_DEPENDS src/backend/*/module.cmake)
foreach(path IN LISTS HF_MODULES)
  include(${path})
endforeach()
list(REMOVE_DUPLICATES HF_FOLDERS_USED_SOMETIMES)
foreach(folder IN LISTS HF_FOLDERS_USED_SOMETIMES)
  if(NOT folder IN_LIST HF_FOLDERS_USED)
    list(APPEND HF_FOLDERS_LEFT_OUT src/${folder} test/unit/${folder})
  endif()
endforeach()
list(JOIN HF_BACKENDS_BUILT ", " built)
message(STATUS "backends: ${built}")

file(CONFIGURE OUTPUT ${HF_GENERATED}/backends.h CONTENT
"/* backends.h: generated from src/backend/NAME/module.cmake. */
#ifndef HF_BACKENDS_H
#define HF_BACKENDS_H

#include \"backend/backend.h\"

@HF_BACKEND_EXTERNS@
/* Those that are built. */
#define HF_BACKENDS@HF_BACKEND_TABLES@

/* Those that are not: their schemes, and what to do. */
#define HF_BACKENDS_ABSENT@HF_BACKEND_ABSENT@

#endif
" @ONLY)
