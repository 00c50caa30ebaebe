# tests.cmake: a test file is a ctest entry of the same stem.  Tests link the
# static library, whose internal symbols they may call.
set(HF_TEST_DIR ${PROJECT_SOURCE_DIR}/test)
file(GLOB HF_TEST_LIB CONFIGURE_DEPENDS test/lib/*.c)

# Starts servers for tests that are no C programs; without sanitizers, so with
# its own objects of the lab.
add_executable(test-server test/tool/test_server.c lab/launch.c lab/ask.c
  lab/port.c lab/wait.c lab/error.c)
target_compile_options(test-server PRIVATE -fno-sanitize=all ${HF_LAB_INCLUDE})
target_link_options(test-server PRIVATE -fno-sanitize=all)
set_target_properties(test-server PROPERTIES
  RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)

# What a folder's backend lacks, its tests lack too (cmake/backends.cmake);
# without OpenSSL there is no TLS.
macro(hf_without_missing paths)
  hf_without_left_out(${paths})
  if(NOT OPENSSL_FOUND)
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
target_link_libraries(holdfast_test PUBLIC holdfast_static lab)
# The scripts' header is made by the library's build.
add_dependencies(holdfast_test holdfast_objects clock_shim)

# A program of the tests; the library behind it says what else it needs.
function(hf_test_program name)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE holdfast_test)
  hf_link_module(${name} ${ARGN})
  set_target_properties(${name} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
endfunction()

# Minutes of computing: `make slow` and .ci/run run these, `make test` does not.
# A server in Java computes for seconds before it answers.  Of a store that the
# contract runs on twice, the rarer way is here.
set(HF_SLOW "^(alloc_failure_test|sim-more|sim-mutants|model|install|python-wheel|hiredis-1|contract-zookeeper|zookeeper_(cell|cut|end|ensemble|leader|refused|session|tls)_test|contract-(mysql|postgres)-(session|shedlock)|contract-redis-(nofence|tls)|etcd_cluster_test|cli-lab_(all|page))$")
# Many tests run at once, since most of them wait.  Of those that compute one runs
# at a time, of those that compile too; each takes the places of several others.
set(HF_BUSY "^(sim|fuzz|model|install|slow)$")
set(HF_BUSY_PLACES 4)
# These wait and compute.
set(HF_HALF_BUSY "(^contract-.*|(stress|storm|many_[a-z]+|multi_processes)(_test)?)$")
# Those that wait longest, or that others wait for, begin first: in seconds.
set(HF_LONG sim-more 300 sim-mutants 300 bare-build 280 model 260 install 250
  same-build 240 abi-newer 230 alloc_failure_test 150
  redis_cluster_failover_test 90 tls_line_test 60
  redis_cluster_move_test 50 mixed_quorum_test 40 cli-lost 40 redis_sentinel_failover_test 40
  net_cluster_test 40 redis_cluster_storm_test 40 redis_permit_fault_test 40
  redis_cluster_bad_test 30 redlock_heal_test 30 slow_server_test 30
  orders_once_test 30
  cli-init 30 server_restart_test 30 cli-stress 30 guarantee_client_test 30
  net_sentinel_test 30 cli-doctor 25 cli-redlock 25 net_redlock_test 25)

function(hf_test name label)
  set(labels ${label})
  if(name MATCHES "${HF_SLOW}")
    list(APPEND labels slow)
  endif()
  add_test(NAME ${name} COMMAND ${ARGN})
  # What cannot be had on a machine is skipped, with the reason: test_skip() and
  # the skip of test/cli/lib.sh.
  set_tests_properties(${name} PROPERTIES LABELS "${labels}" TIMEOUT 900
    SKIP_RETURN_CODE 77)
  if(label MATCHES "${HF_BUSY}")
    set(turn computing)
    if(label MATCHES "^(install|slow)$")
      set(turn compiling)
    endif()
    set_tests_properties(${name} PROPERTIES RESOURCE_LOCK ${turn}
      PROCESSORS ${HF_BUSY_PLACES})
  elseif(name MATCHES "${HF_HALF_BUSY}")
    set_tests_properties(${name} PROPERTIES PROCESSORS 2)
  endif()
  list(FIND HF_LONG ${name} at)
  if(at GREATER_EQUAL 0)
    math(EXPR at "${at} + 1")
    list(GET HF_LONG ${at} seconds)
    set_tests_properties(${name} PROPERTIES COST ${seconds})
  elseif(label MATCHES "${HF_BUSY}")
    set_tests_properties(${name} PROPERTIES COST 100)
  elseif(label STREQUAL "contract")
    # Four processes, which wait: two seconds of computing in a minute.
    set_tests_properties(${name} PROPERTIES COST 60)
  endif()
  # TSan cannot follow threads that a forked child starts: let it try where
  # it may, and leave out the test that is about nothing else.  Nor does it
  # open in a child its own lock of a mutex that another thread of the parent
  # was just taking: a child of fork_table_test hung in that.
  if(HF_SANITIZE STREQUAL "thread")
    set_tests_properties(${name} PROPERTIES ENVIRONMENT_MODIFICATION
      "TSAN_OPTIONS=set:die_after_fork=0")
    if(name MATCHES "^fork(_table)?_test$")
      set_tests_properties(${name} PROPERTIES DISABLED TRUE)
    endif()
  endif()
endfunction()

foreach(kind unit fault)
  file(GLOB_RECURSE paths CONFIGURE_DEPENDS test/${kind}/*_test.c)
  hf_without_missing(paths)
  foreach(path IN LISTS paths)
    get_filename_component(stem ${path} NAME_WE)
    hf_test_program(${stem} ${path})
    hf_test(${stem} ${kind} ${stem})
    # A test that needs modules finds those of this build.
    foreach(name IN LISTS HF_BACKEND_MODULES)
      set(folders unit/backend/${name} fault/${name} ${HF_MODULE_${name}_TESTS})
      list(JOIN folders "|" folders)
      if(path MATCHES "/test/(${folders})/")
        set_tests_properties(${stem} PROPERTIES ENVIRONMENT
          HOLDFAST_MODULE_PATH=${CMAKE_BINARY_DIR}/module)
        add_dependencies(${stem} store-${name}-module)
      endif()
    endforeach()
  endforeach()
endforeach()

# It opens the stores in a database as programs do: as modules.
if(TARGET sql_replay_test)
  set_tests_properties(sql_replay_test PROPERTIES ENVIRONMENT
    HOLDFAST_MODULE_PATH=${CMAKE_BINARY_DIR}/module)
  foreach(name IN LISTS HF_BACKEND_MODULES)
    add_dependencies(sql_replay_test store-${name}-module)
  endforeach()
endif()

# In these a known bug can be planted, to show that they find it: they compile
# what it would be in once more.  See test/lib/planted.h.
file(GLOB planted CONFIGURE_DEPENDS src/core/*.c)
foreach(stem planted_bugs_test redlock_clock_test)
  if(NOT TARGET ${stem})
    continue()
  endif()
  target_sources(${stem} PRIVATE ${planted} src/kind/kind.c src/engine/nodes.c)
  target_compile_definitions(${stem} PRIVATE HF_MUTATIONS=1)
endforeach()

file(GLOB paths CONFIGURE_DEPENDS test/contract/*.c)
if(paths)
  hf_test_program(contract ${paths})
  foreach(url IN LISTS HF_BACKEND_CONTRACTS)
    string(REPLACE ":" "" stem "contract-${url}")
    # A fair reader or writer on etcd sometimes waits for a minute; not
    # explained yet, and docs/stores.md says so.
    set(left_out)
    if(url STREQUAL "etcd")
      set(left_out not=rw_order.)
    endif()
    hf_test(${stem} contract contract url=${url} jobs=4 ${left_out})
    set_tests_properties(${stem} PROPERTIES ENVIRONMENT
      HOLDFAST_MODULE_PATH=${CMAKE_BINARY_DIR}/module)
  endforeach()
  hf_test(contract-quorum contract contract url=quorum: jobs=4)
  if(HF_BACKEND_redis)
    if(OPENSSL_FOUND)
      hf_test(contract-redis-tls contract contract url=redis-tls jobs=4)
    endif()
    # As users with few rights: docs/how-to/acl.md.
    function(hf_acl_test use)
      hf_test(contract-acl-${use} contract sh ${HF_TEST_DIR}/contract/acl.sh
        $<TARGET_FILE:contract> ${use} ${ARGN})
    endfunction()
    hf_acl_test(lock acquire. cancel. exclusion. fence. holder. lease. multi
      names. reentrancy. release. turns. wait. redisson_crowd.
      redisson_fenced. redisson_lock. redisson_reentry.)
    hf_acl_test(string acquire. cancel. exclusion. fence. holder. lease.
      names. release. wait. inspect. breaking.)
    hf_acl_test(fair fair. redisson_fair.)
    hf_acl_test(readwrite rw. rw_order. redisson_readwrite.)
    hf_acl_test(semaphore permit permit_count. permit_order. counter. slots.)
    hf_acl_test(latch latch.)
    hf_acl_test(barrier barrier. not=other_kinds)
    hf_acl_test(guard guard. claim.)
    hf_acl_test(stock stock.)
    hf_acl_test(value value. value_update. once. election.
      not=is_not_listed,keeps_order,own_fence_whoever)
    hf_acl_test(inspect inspect. list. rw.inspect fair.length permit_order.
      permit_count.is_shown)
    hf_acl_test(quorum acquire. cancel. exclusion. fence. holder. lease. multi.
      names. reentrancy. release. turns. wait. inspect. breaking. ticket.
      slots.)
  endif()
endif()

# The C++ headers, on the stores that need nothing, and on Redis.
if(CMAKE_CXX_COMPILER)
  file(GLOB paths CONFIGURE_DEPENDS test/cpp/*_claims.cpp)
  hf_test_program(cpp ${paths})
  set(urls memory: file:)
  if(HF_BACKEND_redis)
    list(APPEND urls redis)
  endif()
  foreach(url IN LISTS urls)
    string(REPLACE ":" "" stem "cpp-${url}")
    hf_test(${stem} cpp cpp url=${url})
  endforeach()
  add_executable(cpp-bare test/cpp/without_exceptions.cpp)
  target_compile_options(cpp-bare PRIVATE -fno-exceptions)
  target_link_libraries(cpp-bare PRIVATE holdfast_shared)
  set_target_properties(cpp-bare PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  hf_test(cpp-without-exceptions cpp cpp-bare)
endif()

file(GLOB paths CONFIGURE_DEPENDS test/sim/*.c)
if(paths)
  # Bugs can be planted in its own copy of what it tests.
  file(GLOB planted CONFIGURE_DEPENDS src/core/*.c src/kind/*.c
    src/engine/*.c src/rules/*.c)
  list(FILTER planted EXCLUDE REGEX "/src/engine/(pump.*|spin)\\.c$")
  hf_test_program(sim ${paths} ${planted})
  target_compile_definitions(sim PRIVATE HF_MUTATIONS=1)
  hf_test(sim sim sim run --seeds ${HF_SIM_SEEDS})
  if(HF_SIM_MORE GREATER 0)
    math(EXPR from "${HF_SIM_SEEDS} + 1")
    hf_test(sim-more sim sim run --from ${from} --seeds ${HF_SIM_MORE})
  endif()
  # A sanitizer finds nothing more in planted bugs, and the hunt would take a
  # quarter of an hour there.
  if(NOT HF_SANITIZE)
    hf_test(sim-mutants sim sim mutants)
  endif()
  # `sim` plays read/write locks too, in one of sixteen seeds.
  math(EXPR half "${HF_SIM_SEEDS} / 2")
  hf_test(sim-rw sim sim run --rw --seeds ${half})
  hf_test(sim-amnesia sim sim amnesia)
  # Beyond those of `sim`: seeds that once found something.  Without the faults
  # that came later, each tells the story in which it was found.
  foreach(seed 52098 50193600 700345668 700531952
      700151741)
    hf_test(sim-found-${seed} sim sim run --from ${seed} --seeds 1
      --faults all,-take,-fall)
  endforeach()
  hf_test(sim-found-700072338 sim sim run --from 700072338 --seeds 1)
  hf_test(sim-found-910011647 sim sim run --from 910011647 --seeds 1
    --faults break,late,pause,flush)
endif()

# With the real libraries: only tools/interop.sh has what it needs.
file(GLOB paths CONFIGURE_DEPENDS test/interop/*.c)
if(NOT HF_BACKEND_etcd)
  list(FILTER paths EXCLUDE REGEX "/etcd_[^/]*\\.c$")
endif()
if(NOT HF_BACKEND_zookeeper)
  list(FILTER paths EXCLUDE REGEX "/zookeeper_[^/]*\\.c$")
endif()
if(NOT HF_BACKEND_postgres)
  list(FILTER paths EXCLUDE REGEX "/postgres_[^/]*\\.c$")
endif()
if(paths AND HF_BACKEND_redis)
  hf_test_program(interop ${paths})
  set_target_properties(interop PROPERTIES EXCLUDE_FROM_ALL TRUE)
  add_dependencies(interop modules holdfast)
endif()

# Shell tests of the command; lib.sh is what they share.
file(GLOB paths CONFIGURE_DEPENDS test/cli/*.sh)
list(FILTER paths EXCLUDE REGEX "/lib\\.sh$")
if(NOT OPENSSL_FOUND)
  list(FILTER paths EXCLUDE REGEX "/tls\\.sh$")
endif()
if(NOT HF_BACKEND_sqlite)
  list(FILTER paths EXCLUDE REGEX "/sqlite\\.sh$")
endif()
if(NOT HF_BACKEND_postgres)
  list(FILTER paths EXCLUDE REGEX "/doctor_postgres\\.sh$")
endif()
if(HF_SANITIZE)
  # The leak sanitizer cannot look into a set-user-id program, and the thread
  # sanitizer writes files itself; Python cannot open a library that has one.
  list(FILTER paths EXCLUDE REGEX "/(setuid|file_limit|python)\\.sh$")
endif()
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
# One of them reads the command line, with the command's own objects.
set(HF_CLI_PARTS
  "$<FILTER:$<TARGET_OBJECTS:holdfast>,EXCLUDE,/(main|say)\\.c\\.o>")
file(GLOB_RECURSE paths CONFIGURE_DEPENDS test/fuzz/*_fuzz.c)
hf_without_missing(paths)
foreach(path IN LISTS paths)
  get_filename_component(stem ${path} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" noun ${stem})
  file(GLOB parts CONFIGURE_DEPENDS test/fuzz/lib/${noun}_*.c)
  if(noun STREQUAL "options")
    set(parts ${HF_CLI_PARTS})
  endif()
  if(HF_FUZZ)
    hf_test_program(${stem} ${path} ${parts})
    add_dependencies(fuzzers ${stem})
    target_link_options(${stem} PRIVATE -fsanitize=fuzzer)
  else()
    hf_test_program(${stem} ${path} ${parts} test/fuzz/lib/standalone.c)
    hf_test(${stem} fuzz ${stem} ${HF_TEST_DIR}/fuzz/corpus/${noun})
  endif()
endforeach()
foreach(stem options_fuzz run_supervise_test)
  target_compile_options(${stem} PRIVATE
    "SHELL:-iquote ${PROJECT_SOURCE_DIR}/cli")
endforeach()
# A run of these is a whole client, or writes files.
if(NOT HF_FUZZ)
  set_tests_properties(guard_fuzz PROPERTIES ENVIRONMENT HF_FUZZ_RUNS=1000)
  if(HF_BACKEND_redis)
    set_tests_properties(client_fuzz PROPERTIES ENVIRONMENT HF_FUZZ_RUNS=300)
  endif()
endif()

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

# A program that loads the library, uses it and unloads it, while a thread of
# the library is in a function of the program.
if(HF_BACKEND_redis)
  add_executable(unload test/install/unload.c)
  target_include_directories(unload PRIVATE include)
  target_link_libraries(unload PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(unload PROPERTIES ENABLE_EXPORTS ON
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
  add_dependencies(unload holdfast_shared)
  hf_test(unload fault unload $<TARGET_FILE:holdfast_shared>)
endif()

# Every C program on our pages compiles.
hf_test(doc-blocks docs sh ${PROJECT_SOURCE_DIR}/tools/blocks.sh)
set_tests_properties(doc-blocks PROPERTIES
  ENVIRONMENT "CC=${CMAKE_C_COMPILER}")

# Every test that docs/conformance.md names is there.
hf_test(conformance docs sh ${PROJECT_SOURCE_DIR}/tools/conformance.sh)
# So is every one that docs/guarantees.md names, one at least for each cell.
hf_test(guarantees docs sh ${PROJECT_SOURCE_DIR}/tools/guarantees.sh)
# And every one that SECURITY.md names, one at least for each threat.
hf_test(security docs sh ${PROJECT_SOURCE_DIR}/tools/security.sh)

if(NOT HF_SANITIZE AND NOT HF_FUZZ)
  # The small models; nothing of ours is compiled for them.
  hf_test(model model sh ${PROJECT_SOURCE_DIR}/tools/model.sh small)
  set_tests_properties(model PROPERTIES TIMEOUT 1800
    ENVIRONMENT "BUILD=${CMAKE_BINARY_DIR};MODEL_SKIPS=1")
  hf_test(install install sh ${HF_TEST_DIR}/install/install_test.sh)
  set_tests_properties(install PROPERTIES ENVIRONMENT
    "BUILD=${CMAKE_BINARY_DIR};CMAKE=${CMAKE_COMMAND};CC=${CMAKE_C_COMPILER}")
  # Programs of other versions, with today's library.
  hf_test(abi install sh ${HF_TEST_DIR}/abi/abi_test.sh)
  set_tests_properties(abi PROPERTIES ENVIRONMENT
    "BUILD=${CMAKE_BINARY_DIR};CC=${CMAKE_C_COMPILER}")
  hf_test(abi-newer slow sh ${HF_TEST_DIR}/abi/abi_test.sh newer)
  set_tests_properties(abi-newer PROPERTIES ENVIRONMENT
    "CMAKE=${CMAKE_COMMAND};CC=${CMAKE_C_COMPILER}")
  # What the built files protect themselves with.
  if(HF_HARDEN)
    hf_test(hardening install sh ${HF_TEST_DIR}/install/hardening_test.sh)
    set_tests_properties(hardening PROPERTIES ENVIRONMENT
      "BUILD=${CMAKE_BINARY_DIR};CC=${CMAKE_C_COMPILER}")
  endif()
  # Built twice, elsewhere.
  hf_test(same-build slow sh ${HF_TEST_DIR}/install/same_build_test.sh)
  set_tests_properties(same-build PROPERTIES
    ENVIRONMENT "CMAKE=${CMAKE_COMMAND};CC=${CMAKE_C_COMPILER}")
  # Without the libraries that can be missing, and without assertions.
  hf_test(bare-build slow sh ${HF_TEST_DIR}/install/bare_build_test.sh)
  set_tests_properties(bare-build PROPERTIES ENVIRONMENT
    "CMAKE=${CMAKE_COMMAND};CC=${CMAKE_C_COMPILER}")
  # The Python package, by pip.
  hf_test(python-wheel install sh ${HF_TEST_DIR}/install/python_test.sh)
  set_tests_properties(python-wheel PROPERTIES
    ENVIRONMENT "BUILD=${CMAKE_BINARY_DIR};CMAKE=${CMAKE_COMMAND}")
  hf_test(hiredis-1 install sh ${HF_TEST_DIR}/install/hiredis_test.sh)
  set_tests_properties(hiredis-1 PROPERTIES ENVIRONMENT
    "BUILD=${CMAKE_BINARY_DIR};CC=${CMAKE_C_COMPILER}")
endif()
