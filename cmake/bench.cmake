# bench.cmake: each bench/*.c is a program of its own; bench/lib/*.c is linked
# into all of them.  Built only when asked for: target bench-programs.
file(GLOB HF_BENCHES CONFIGURE_DEPENDS bench/*.c)
file(GLOB HF_BENCH_LIB CONFIGURE_DEPENDS bench/lib/*.c)
# The one that needs OpenSSL: the others start faster without it.
set(HF_BENCH_TLS ${PROJECT_SOURCE_DIR}/bench/lib/raw_tls.c)
list(REMOVE_ITEM HF_BENCH_LIB ${HF_BENCH_TLS})
add_custom_target(bench-programs)
foreach(path IN LISTS HF_BENCHES)
  get_filename_component(stem ${path} NAME_WE)
  add_executable(bench-${stem} EXCLUDE_FROM_ALL ${path} ${HF_BENCH_LIB})
  target_compile_options(bench-${stem} PRIVATE ${HF_INTERNAL}
    "SHELL:-iquote ${PROJECT_SOURCE_DIR}/bench")
  target_link_libraries(bench-${stem} PRIVATE holdfast_static lab m)
  set_target_properties(bench-${stem} PROPERTIES OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(bench-programs bench-${stem})
endforeach()
if(OPENSSL_FOUND)
  target_sources(bench-raw PRIVATE ${HF_BENCH_TLS})
  target_compile_definitions(bench-raw PRIVATE HF_WITH_TLS=1)
  target_include_directories(bench-raw SYSTEM PRIVATE ${OPENSSL_INCLUDE_DIRS})
  target_link_libraries(bench-raw PRIVATE ${OPENSSL_LINK_LIBRARIES})
endif()
add_dependencies(bench-programs modules)
if(TARGET holdfast)
  add_dependencies(bench-programs holdfast)
endif()
