# embed_lua.cmake: Lua scripts -> redis_scripts.c and redis_scripts.h.
#
#   cmake -DOUT=dir -DSCRIPTS=a.lua,b.lua -P embed_lua.cmake
#
# A line "--@include name" stands for the text of part/name.lua.  Comment lines
# and blank lines are left out before the SHA1 is taken: the server is sent the
# text that was hashed, byte for byte.
set(header "/* redis_scripts.h: generated from src/backend/redis/lua. */
#ifndef HF_REDIS_SCRIPTS_H
#define HF_REDIS_SCRIPTS_H

#include <stddef.h>

struct redis_script {
    const char *name;
    const char *text;
    size_t len;
    const char *sha1;
};

")
set(source "/* redis_scripts.c: generated from src/backend/redis/lua. */
#include \"redis_scripts.h\"

/* Keeps this a translation unit when there is no script at all. */
typedef int redis_scripts_none;
")

string(REPLACE "," ";" scripts "${SCRIPTS}")
foreach(path IN LISTS scripts)
  get_filename_component(name "${path}" NAME_WE)
  if(NOT name MATCHES "^[a-z][a-z0-9_]*$")
    message(FATAL_ERROR "${path}: a script's name must be a C name")
  endif()
  file(READ "${path}" text)
  get_filename_component(dir "${path}" DIRECTORY)
  while(text MATCHES "\n--@include ([a-z_]+)\n")
    file(READ "${dir}/part/${CMAKE_MATCH_1}.lua" part)
    string(REPLACE "\n--@include ${CMAKE_MATCH_1}\n" "\n${part}\n" text
      "${text}")
  endwhile()
  if(text MATCHES "--\\[=*\\[")
    message(FATAL_ERROR "${path}: block comments are not understood here")
  endif()
  string(PREPEND text "\n")
  string(REGEX REPLACE "\n[ \t]*--[^\n]*" "\n" text "${text}")
  string(REGEX REPLACE "[ \t]+\n" "\n" text "${text}")
  string(REGEX REPLACE "\n[ \t]+" "\n" text "${text}")
  string(REGEX REPLACE "\n\n+" "\n" text "${text}")
  string(REGEX REPLACE "^\n" "" text "${text}")
  string(SHA1 sha1 "${text}")
  string(REPLACE "\\" "\\\\" quoted "${text}")
  string(REPLACE "\"" "\\\"" quoted "${quoted}")
  string(REPLACE "\n" "\\n\"\n    \"" quoted "${quoted}")
  string(APPEND header "extern const struct redis_script hf__redis_script_${name};\n")
  string(APPEND source "
static const char ${name}_text[] =
    \"${quoted}\";
const struct redis_script hf__redis_script_${name} = {
    \"${name}\", ${name}_text, sizeof ${name}_text - 1,
    \"${sha1}\"};
")
endforeach()
string(APPEND header "\n#endif\n")

file(WRITE "${OUT}/redis_scripts.h" "${header}")
file(WRITE "${OUT}/redis_scripts.c" "${source}")
