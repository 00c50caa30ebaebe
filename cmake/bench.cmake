# bench.cmake: each bench/*.c is a program of its own; bench/lib/*.c is linked
# into all of them.  Built only when asked for: target bench-programs.
file(GLOB HF_BENCHES CONFIGURE_DEPENDS bench/*.c)
file(GLOB HF_BENCH_LIB CONFIGURE_DEPENDS bench/lib/*.c)
add_custom_target(bench-programs)
foreach(path IN LISTS HF_BENCHES)
  get_filename_component(stem ${path} NAME_WE)
  add_executable(bench-${stem} EXCLUDE_FROM_ALL ${path} ${HF_BENCH_LIB})
  target_compile_options(bench-${stem} PRIVATE ${HF_INTERNAL}
    "SHELL:-iquote ${PROJECT_SOURCE_DIR}/bench")
  target_link_libraries(bench-${stem} PRIVATE holdfast_static m)
  set_target_properties(bench-${stem} PROPERTIES OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bench)
  add_dependencies(bench-programs bench-${stem})
endforeach()
if(TARGET holdfast)
  add_dependencies(bench-programs holdfast)
endif()
