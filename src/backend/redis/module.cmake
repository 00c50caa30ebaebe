# module.cmake: the redis backend needs hiredis, for its reader of replies.
set(HF_REDIS AUTO CACHE STRING
  "the redis backend: ON, OFF, or AUTO: if hiredis is there")
set_property(CACHE HF_REDIS PROPERTY STRINGS AUTO ON OFF)
set(HF_HIREDIS "install the package libhiredis-dev and build holdfast again")
if(NOT HF_REDIS)
  set(HIREDIS_FOUND FALSE)
  set(HF_HIREDIS "build holdfast again with -DHF_REDIS=ON")
elseif(HF_REDIS STREQUAL "AUTO")
  pkg_check_modules(HIREDIS IMPORTED_TARGET hiredis>=0.14)
  if(NOT HIREDIS_FOUND)
    message(WARNING
      "hiredis not found: the redis backend is left out; it needs the package "
      "libhiredis-dev (Debian, Ubuntu) or hiredis-devel (Fedora)")
  endif()
else()
  pkg_check_modules(HIREDIS REQUIRED IMPORTED_TARGET hiredis>=0.14)
endif()

# The Lua scripts become one C file with their SHA1s.
file(GLOB HF_LUA CONFIGURE_DEPENDS src/backend/redis/lua/*.lua)
file(GLOB HF_LUA_PARTS CONFIGURE_DEPENDS src/backend/redis/lua/part/*.lua)
set(HF_SCRIPTS ${HF_GENERATED}/redis_scripts.c)
add_custom_command(
  OUTPUT ${HF_SCRIPTS} ${HF_GENERATED}/redis_scripts.h
  COMMAND ${CMAKE_COMMAND} -DOUT=${HF_GENERATED}
          "-DSCRIPTS=$<JOIN:${HF_LUA},$<COMMA>>"
          -P ${PROJECT_SOURCE_DIR}/cmake/embed_lua.cmake
  DEPENDS ${HF_LUA} ${HF_LUA_PARTS} ${PROJECT_SOURCE_DIR}/cmake/embed_lua.cmake
  COMMENT "Embedding the Lua scripts" VERBATIM)
add_custom_target(redis-scripts DEPENDS ${HF_SCRIPTS})
# ISO C promises 4095 characters in a literal; real compilers have no limit.
set_source_files_properties(${HF_SCRIPTS} PROPERTIES
  COMPILE_OPTIONS -Wno-overlength-strings)

hf_backend(redis IF HIREDIS_FOUND
  TABLES redis sentinel redis_cluster
  SCHEMES redis rediss redis+unix redis-sentinel redis-cluster
  WITHOUT ${HF_HIREDIS}
  PROBES redis=redis+unix:///dev/null rediss=rediss://127.0.0.1:1
    redis-sentinel=redis-sentinel://127.0.0.1:1/m
    redis-cluster=redis-cluster://127.0.0.1:1
  CONTRACT redis sentinel cluster redis-string redis-nofence
  PKG HIREDIS
  USES net
  SOURCES ${HF_SCRIPTS}
  TARGETS redis-scripts
  TESTS fault/api fault/cluster fault/fallback fault/mixed fault/quorum
    fault/redisson fault/replay fault/replica fault/sentinel fault/tls)
