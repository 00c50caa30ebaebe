# tests.cmake: a test file is a ctest entry of the same stem.  Tests link the
# static library, whose internal symbols they may call.
set(HF_TEST_DIR ${PROJECT_SOURCE_DIR}/test)
file(GLOB HF_TEST_LIB CONFIGURE_DEPENDS test/lib/*.c)
# Preloaded into servers, never linked: it stands in for the C library's clock.
list(FILTER HF_TEST_LIB EXCLUDE REGEX "/clock_shim\\.c$")
add_library(clock_shim MODULE test/lib/clock_shim.c)
target_compile_options(clock_shim PRIVATE -fno-sanitize=all)
target_link_options(clock_shim PRIVATE -fno-sanitize=all)
set_target_properties(clock_shim PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)

# Without hiredis there is no redis backend to be tested, nor the sockets that
# only it uses; without OpenSSL there is no TLS.
macro(hf_without_redis paths)
  if(NOT HIREDIS_FOUND)
    list(FILTER ${paths} EXCLUDE REGEX
      "/((redis|net)_[^/]*|replay_test|stream_test)\\.c$")
  endif()
  if(NOT OPENSSL_FOUND OR NOT HIREDIS_FOUND)
    list(FILTER ${paths} EXCLUDE REGEX "/tls_[^/]*\\.c$")
  endif()
endmacro()
add_library(holdfast_test STATIC ${HF_TEST_LIB})
set_target_properties(holdfast_test PROPERTIES
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
target_compile_options(holdfast_test PUBLIC ${HF_INTERNAL}
  "SHELL:-iquote ${HF_TEST_DIR}")
target_compile_definitions(holdfast_test PUBLIC
  TEST_SOURCE_DIR="${HF_TEST_DIR}"
  TEST_COMMAND="${CMAKE_BINARY_DIR}/holdfast"
  TEST_CLOCK_SHIM="$<TARGET_FILE:clock_shim>"
  TEST_MODULE_DIR="${CMAKE_BINARY_DIR}/test/module")
target_link_libraries(holdfast_test PUBLIC holdfast_static)
# The scripts' header is made by the library's build.
add_dependencies(holdfast_test holdfast_objects clock_shim)

# A program of the tests; the library behind it says what else it needs.
function(hf_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE holdfast_test)
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
endfunction()

function(hf_test name label)
  add_test(NAME ${name} COMMAND ${ARGN})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 300)
  # Two tests run at once for each core, since most of them wait; not these.
  if(label MATCHES "^(contract|sim|fuzz|model|install)$"
      OR name STREQUAL "alloc_failure_test")
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
  # TSan cannot follow threads that a forked child starts: let it try where
  # it may, and leave out the test that is about nothing else.
  if(HF_SANITIZE STREQUAL "thread")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION
      "TSAN_OPTIONS=set:die_after_fork=0")
    if(name STREQUAL "fork_test")
      set_tests_properties(${name} PROPERTIES DISABLED TRUE)
    endif()
  endif()
endfunction()

foreach(kind unit fault)
  file(GLOB paths CONFIGURE_DEPENDS test/${kind}/*_test.c)
  hf_without_redis(paths)
  foreach(path IN LISTS paths)
    get_filename_component(stem ${path} NAME_WE)
    hf_test_program(${stem} ${path})
    hf_test(${stem} ${kind} ${stem})
  endforeach()
endforeach()

file(GLOB paths CONFIGURE_DEPENDS test/contract/*.c)
if(paths)
  hf_test_program(contract ${paths})
  hf_test(contract-memory contract contract url=memory: jobs=4)
  hf_test(contract-file contract contract url=file: jobs=4)
  hf_test(contract-quorum contract contract url=quorum: jobs=4)
  if(HIREDIS_FOUND)
    hf_test(contract-redis contract contract url=redis jobs=4)
    if(OPENSSL_FOUND)
      hf_test(contract-redis-tls contract contract url=redis-tls jobs=4)
    endif()
    hf_test(contract-sentinel contract contract url=sentinel jobs=4)
    hf_test(contract-cluster contract contract url=cluster jobs=4)
    hf_test(contract-redis-string contract contract url=redis-string jobs=4)
    hf_test(contract-redis-nofence contract contract url=redis-nofence jobs=4)
  endif()
endif()

file(GLOB paths CONFIGURE_DEPENDS test/sim/*.c)
if(paths)
  # Bugs can be planted in its own copy of what it tests.
  file(GLOB planted CONFIGURE_DEPENDS src/core/*.c src/kind/*.c
    src/engine/engine*.c src/engine/locks.c src/engine/nodes.c
    src/engine/heap.c src/engine/again.c src/engine/member*.c
    src/engine/clocks.c src/engine/direct.c src/engine/ops.c
    src/engine/pass.c src/engine/values.c src/backend/memory/memory_store.c
    src/backend/memory/memory_boot.c src/backend/memory/memory_queue.c
    src/backend/memory/memory_life.c src/backend/memory/memory_report.c
    src/backend/memory/memory_table.c src/backend/memory/memory_glob.c)
  hf_test_program(sim ${paths} ${planted})
  target_compile_definitions(sim PRIVATE HF_MUTATIONS=1)
  hf_test(sim sim sim run --seeds ${HF_SIM_SEEDS})
  hf_test(sim-mutants sim sim mutants)
  hf_test(sim-amnesia sim sim amnesia)
  # Beyond those of `sim`: seeds that once found something.
  hf_test(sim-found sim sim run --from 52098 --seeds 1)
endif()

# With the real libraries: only tools/interop.sh has what it needs.
file(GLOB paths CONFIGURE_DEPENDS test/interop/*.c)
if(paths AND HIREDIS_FOUND)
  hf_test_program(interop ${paths})
  set_target_properties(interop PROPERTIES EXCLUDE_FROM_ALL TRUE)
endif()

# Shell tests of the command; lib.sh is what they share.
file(GLOB paths CONFIGURE_DEPENDS test/cli/*.sh)
list(FILTER paths EXCLUDE REGEX "/lib\\.sh$")
foreach(path IN LISTS paths)
  get_filename_component(stem ${path} NAME_WE)
  hf_test(cli-${stem} cli sh ${path})
  set_tests_properties(cli-${stem} PROPERTIES
    ENVIRONMENT
    "HOLDFAST=${CMAKE_BINARY_DIR}/holdfast;CLOCK_SHIM=$<TARGET_FILE:clock_shim>"
    WORKING_DIRECTORY ${HF_TEST_DIR}/cli)
endforeach()

if(HF_FUZZ)
  add_custom_target(fuzzers)
endif()
# Fuzz targets: replayed with seeded mutations here, libFuzzer with HF_FUZZ.
file(GLOB paths CONFIGURE_DEPENDS test/fuzz/*_fuzz.c)
hf_without_redis(paths)
foreach(path IN LISTS paths)
  get_filename_component(stem ${path} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" noun ${stem})
  if(HF_FUZZ)
    hf_test_program(${stem} ${path})
    add_dependencies(fuzzers ${stem})
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
  else()
    hf_test_program(${stem} ${path} test/fuzz/lib/standalone.c)
    hf_test(${stem} fuzz ${stem} ${HF_TEST_DIR}/fuzz/corpus/${noun})
  endif()
endforeach()

# A backend module, for the loader's test.
file(GLOB paths CONFIGURE_DEPENDS test/module/*.c)
foreach(path IN LISTS paths)
  get_filename_component(stem ${path} NAME_WE)
  add_library(module-${stem} MODULE ${path})
  target_link_libraries(module-${stem} PRIVATE holdfast_base)
  set_target_properties(module-${stem} PROPERTIES PREFIX "libholdfast-"
    OUTPUT_NAME ${stem}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test/module)
endforeach()

# Every C program on our pages compiles.
hf_test(doc-blocks docs sh ${PROJECT_SOURCE_DIR}/tools/blocks.sh)
set_tests_properties(doc-blocks PROPERTIES
  ENVIRONMENT "CC=${CMAKE_C_COMPILER}")

# Every test that docs/conformance.md names is there.
hf_test(conformance docs sh ${PROJECT_SOURCE_DIR}/tools/conformance.sh)
# So is every one that docs/guarantees.md names, one at least for each cell.
hf_test(guarantees docs sh ${PROJECT_SOURCE_DIR}/tools/guarantees.sh)

if(NOT HF_SANITIZE AND NOT HF_FUZZ)
  # The small models; nothing of ours is compiled for them.
  hf_test(model model sh ${PROJECT_SOURCE_DIR}/tools/model.sh small)
  set_tests_properties(model PROPERTIES TIMEOUT 900
    ENVIRONMENT "BUILD=${CMAKE_BINARY_DIR}")
  hf_test(install install sh ${HF_TEST_DIR}/install/install_test.sh)
  set_tests_properties(install PROPERTIES ENVIRONMENT
    "BUILD=${CMAKE_BINARY_DIR};CMAKE=${CMAKE_COMMAND};CC=${CMAKE_C_COMPILER}")
endif()
