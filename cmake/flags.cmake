# flags.cmake: how everything here is compiled.
set(CMAKE_C_STANDARD 11)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_C_VISIBILITY_PRESET hidden)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})

add_compile_definitions(_GNU_SOURCE)
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion
                    $<$<BOOL:${HF_WERROR}>:-Werror>)

if(HF_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "HF_FUZZ: libFuzzer needs clang: CC=clang cmake ...")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(HF_SANITIZE)
  # What a report shows, and no more: such a build takes long enough.
  set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O1 -g1")
  add_compile_options(-fsanitize=${HF_SANITIZE} -fno-sanitize-recover=all
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${HF_SANITIZE})
endif()

# Internal headers are found by "..." only: src/sys/random.h must not stand in
# for <sys/random.h>.
set(HF_GENERATED ${CMAKE_BINARY_DIR}/generated)
set(HF_INTERNAL "SHELL:-iquote ${PROJECT_SOURCE_DIR}/src"
                "SHELL:-iquote ${HF_GENERATED}")
