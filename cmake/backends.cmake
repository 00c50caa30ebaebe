# backends.cmake: a folder of src/backend/ with a module.cmake is a backend.
# That file looks for what the backend needs, and calls hf_backend(); nothing
# else in the build, in src/backend/registry.c or in the command names a
# backend.  docs/internals/stores.md shows how to add one.
#
#   hf_backend(NAME            the name of the folder
#     MODULE                   not part of the library: libholdfast-NAME.so, which
#                              is loaded when its scheme is first used
#     IF condition             false: it is left out, with the tests below
#     TABLES name...           each has a struct backend hf__backend_<name>; a
#                              module has none, but hf_backend_module
#     SCHEMES scheme...        what URLs of it begin with
#     WITHOUT text             what to do, where it is left out
#     PROBES name=url...       `holdfast version` names those that can be opened;
#                              that reaches no server and writes nothing
#     CONTRACT url...          the contract suite runs as contract-URL on these
#     PKG prefix...            of pkg_check_modules(): what it is linked with
#     USES folder...           of src/: left out if no backend uses them; one in
#                              src/backend/ that only modules use is compiled into
#                              each of these and not into the library
#     TESTS folder...          of test/: they cannot do without it
#     SOURCES file...          besides those in the folder
#     TARGETS target...)       that make something it includes
#
# Left out with a backend are test/unit/backend/NAME, test/fault/NAME and
# test/fuzz/NAME too.
macro(hf_backend name)
  cmake_parse_arguments(b "MODULE" "WITHOUT"
    "IF;TABLES;SCHEMES;PROBES;CONTRACT;PKG;USES;TESTS;SOURCES;TARGETS" ${ARGN})
  list(APPEND HF_FOLDERS_USED_SOMETIMES ${b_USES})
  list(APPEND HF_PROBES ${b_PROBES})
  list(JOIN b_SCHEMES " " b_schemes)
  set(b_without NULL)
  set(b_tables NULL)
  if(${b_IF})
    set(HF_BACKEND_${name} TRUE)
    list(APPEND HF_BACKENDS_BUILT ${name})
    list(APPEND HF_FOLDERS_USED ${b_USES})
    list(APPEND HF_BACKEND_TARGETS ${b_TARGETS})
    list(APPEND HF_BACKEND_CONTRACTS ${b_CONTRACT})
    if(b_MODULE)
      list(APPEND HF_BACKEND_MODULES ${name})
      foreach(word SOURCES PKG USES TESTS)
        set(HF_MODULE_${name}_${word} ${b_${word}})
      endforeach()
    else()
      list(APPEND HF_FOLDERS_BUILT_IN ${b_USES})
      list(APPEND HF_BACKEND_SOURCES ${b_SOURCES})
      list(APPEND HF_BACKEND_PKGS ${b_PKG})
      list(TRANSFORM b_TABLES PREPEND "&hf__backend_" OUTPUT_VARIABLE b_tables)
      list(JOIN b_tables ", " b_tables)
    endif()
    foreach(table IN LISTS b_TABLES)
      string(APPEND HF_BACKEND_EXTERNS
        "extern const struct backend hf__backend_${table};\n")
    endforeach()
  else()
    set(HF_BACKEND_${name} FALSE)
    list(APPEND HF_FOLDERS_LEFT_OUT src/backend/${name}
      test/unit/backend/${name} test/fault/${name} test/fuzz/${name})
    list(TRANSFORM b_TESTS PREPEND test/)
    list(APPEND HF_FOLDERS_LEFT_OUT ${b_TESTS})
    set(b_without "\"${b_WITHOUT}\"")
    message(STATUS "backend ${name}: left out: ${b_WITHOUT}")
  endif()
  string(APPEND HF_FOLDER_ROWS
    "    {\"${name}\", \"${b_schemes}\", ${b_without}, {${b_tables}}}, \\\n")
endmacro()

# Takes what is in a folder that is left out from a list of paths.
macro(hf_without_left_out paths)
  foreach(folder IN LISTS HF_FOLDERS_LEFT_OUT)
    list(FILTER ${paths} EXCLUDE REGEX "^${PROJECT_SOURCE_DIR}/${folder}/")
  endforeach()
endmacro()

# Takes what is of a module, or of modules only, from a list of paths.
macro(hf_without_modules paths)
  set(folders ${HF_FOLDERS_USED})
  list(FILTER folders INCLUDE REGEX "^backend/")
  list(REMOVE_ITEM folders ${HF_FOLDERS_BUILT_IN} "")
  foreach(name IN LISTS HF_BACKEND_MODULES)
    list(APPEND folders backend/${name})
  endforeach()
  foreach(folder IN LISTS folders)
    list(FILTER ${paths} EXCLUDE REGEX
      "^${PROJECT_SOURCE_DIR}/src/${folder}/")
  endforeach()
endmacro()

# Links a test with the module whose folder it is in, or a unit test with the
# module that names its folder (TESTS): it calls what the library is without.
function(hf_link_module program)
  foreach(name IN LISTS HF_BACKEND_MODULES)
    set(folders unit/backend/${name} fault/${name} fuzz/${name})
    foreach(folder IN LISTS HF_MODULE_${name}_TESTS)
      if(folder MATCHES "^unit/")
        list(APPEND folders ${folder})
      endif()
    endforeach()
    list(JOIN folders "|" folders)
    if("${ARGN}" MATCHES "/test/(${folders})/")
      target_link_libraries(${program} PRIVATE store-${name})
    endif()
  endforeach()
endfunction()

set(HF_FOLDERS_USED "")
set(HF_FOLDERS_USED_SOMETIMES "")
set(HF_FOLDERS_BUILT_IN "")
set(HF_FOLDERS_LEFT_OUT "")
set(HF_PROBES "")
set(HF_BACKENDS_BUILT "")
set(HF_BACKEND_MODULES "")
set(HF_BACKEND_CONTRACTS "")
set(HF_BACKEND_SOURCES "")
set(HF_BACKEND_TARGETS "")
set(HF_BACKEND_PKGS "")
set(HF_BACKEND_EXTERNS "")
set(HF_FOLDER_ROWS "")
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
/* Rows of struct backend_folder. */
#define HF_BACKEND_FOLDERS \\
@HF_FOLDER_ROWS@    {NULL, NULL, NULL, {NULL}}

#endif
" @ONLY)

# For the command, which sees nothing else of this.
set(HF_PROBE_ROWS "")
foreach(probe IN LISTS HF_PROBES)
  string(REGEX REPLACE "^([^=]*)=(.*)$" "{\"\\1\", \"\\2\"}" row "${probe}")
  string(APPEND HF_PROBE_ROWS "    ${row}, \\\n")
endforeach()
file(CONFIGURE OUTPUT ${HF_GENERATED}/cli/probes.h CONTENT
"/* probes.h: generated from src/backend/NAME/module.cmake. */
#ifndef HF_PROBES_H
#define HF_PROBES_H

/* Rows of struct term_row: a store, and a URL that opens if it can be used. */
#define STORE_PROBES \\
@HF_PROBE_ROWS@    {NULL, NULL}

#endif
" @ONLY)
