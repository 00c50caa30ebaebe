# lab.cmake: the library that starts, asks, breaks and stops real servers, for
# the tests and the benchmarks.  It knows nothing of holdfast: see lab/README.md.
file(GLOB HF_LAB CONFIGURE_DEPENDS lab/*.c)
# Preloaded into servers, never linked: it stands in for the C library's clock.
list(FILTER HF_LAB EXCLUDE REGEX "/clock_shim\\.c$")
set(HF_LAB_INCLUDE "SHELL:-iquote ${PROJECT_SOURCE_DIR}")
add_library(lab STATIC EXCLUDE_FROM_ALL ${HF_LAB})
target_compile_options(lab PUBLIC ${HF_LAB_INCLUDE})
target_link_libraries(lab PUBLIC Threads::Threads)
set_target_properties(lab PROPERTIES
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lab)

add_library(clock_shim MODULE EXCLUDE_FROM_ALL lab/clock_shim.c)
target_compile_options(clock_shim PRIVATE -fno-sanitize=all)
target_link_options(clock_shim PRIVATE -fno-sanitize=all -s)
set_target_properties(clock_shim PROPERTIES PREFIX ""
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lab)
