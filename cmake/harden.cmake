# harden.cmake: what every file that is built protects itself with.  Packagers
# who pass such flags themselves may turn it off: -DHF_HARDEN=OFF.
# test/install/hardening_test.sh reads all of it from the files.
include(CheckCCompilerFlag)
include(CheckCSourceCompiles)
include(CheckLinkerFlag)
include(CheckPIESupported)

# No path of the building machine, in debug information or in an assertion's
# text: two builds in two folders give the same files.
add_compile_options("-ffile-prefix-map=${PROJECT_SOURCE_DIR}=."
                    "-ffile-prefix-map=${CMAKE_BINARY_DIR}=build")

function(hf_compile_flag flag)
  string(MAKE_C_IDENTIFIER "HF_HAS${flag}" known)
  check_c_compiler_flag("-Werror ${flag}" ${known})
  if(${known})
    add_compile_options(${flag})
  endif()
endfunction()

function(hf_link_flag flag)
  string(MAKE_C_IDENTIFIER "HF_LINKS${flag}" known)
  check_linker_flag(C "${flag}" ${known})
  if(${known})
    add_link_options(${flag})
  endif()
endfunction()

# The checks of _FORTIFY_SOURCE need optimisation, and headers warn of a level
# that they, or the compiler, do not have.
function(hf_fortify)
  set(CMAKE_REQUIRED_FLAGS
    "-O2 -Werror -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3")
  check_c_source_compiles("#include <string.h>
    int main(void) { return 0; }" HF_HAS_FORTIFY_3)
  set(level $<IF:$<BOOL:${HF_HAS_FORTIFY_3}>,3,2>)
  set(optimised $<CONFIG:RelWithDebInfo,Release,MinSizeRel>)
  add_compile_options($<${optimised}:-U_FORTIFY_SOURCE>
                      $<${optimised}:-D_FORTIFY_SOURCE=${level}>)
endfunction()

if(HF_HARDEN)
  check_pie_supported()
  hf_compile_flag(-fstack-protector-strong)
  hf_compile_flag(-fstack-clash-protection)
  if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|i[3-6]86)$")
    hf_compile_flag(-fcf-protection=full)
  elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
    hf_compile_flag(-mbranch-protection=standard)
  endif()
  hf_link_flag(-Wl,-z,relro)
  hf_link_flag(-Wl,-z,now)
  hf_link_flag(-Wl,-z,noexecstack)
  # A sanitizer checks the same calls itself, and says more.
  if(NOT HF_SANITIZE AND NOT HF_FUZZ)
    hf_fortify()
  endif()
endif()
