# library.cmake: libholdfast, shared and static, from one set of objects.
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
include(cmake/backends.cmake)

# Only its headers: it is loaded on the first use of TLS, see net/openssl.h.
pkg_check_modules(OPENSSL libssl>=1.1.1)
if(net IN_LIST HF_FOLDERS_USED AND NOT OPENSSL_FOUND)
  message(WARNING
    "OpenSSL not found: TLS, as in rediss://, is left out; it needs the package "
    "libssl-dev (Debian, Ubuntu) or openssl-devel (Fedora)")
endif()

file(GLOB_RECURSE HF_SOURCES CONFIGURE_DEPENDS src/*.c)
hf_without_left_out(HF_SOURCES)
hf_without_modules(HF_SOURCES)
set(HF_NET_ELSE "/src/net/tls_none\\.c$")
if(NOT OPENSSL_FOUND)
  set(HF_NET_ELSE "/src/net/(openssl|tls|tls_context|tls_error)\\.c$")
endif()
list(FILTER HF_SOURCES EXCLUDE REGEX "${HF_NET_ELSE}")

add_library(holdfast_objects OBJECT ${HF_SOURCES} ${HF_BACKEND_SOURCES})
foreach(target IN LISTS HF_BACKEND_TARGETS)
  add_dependencies(holdfast_objects ${target})
endforeach()
target_include_directories(holdfast_objects PUBLIC include)
target_compile_options(holdfast_objects PRIVATE ${HF_INTERNAL})
# Of this file alone: another prefix compiles nothing else again.
set_source_files_properties(src/backend/registry.c PROPERTIES
  COMPILE_DEFINITIONS HF_MODULE_DIR="${CMAKE_INSTALL_FULL_LIBDIR}/holdfast")
foreach(pkg IN LISTS HF_BACKEND_PKGS)
  target_link_libraries(holdfast_objects PRIVATE PkgConfig::${pkg})
endforeach()
target_include_directories(holdfast_objects SYSTEM PRIVATE
  ${OPENSSL_INCLUDE_DIRS})

# Exported: what api/holdfast.symbols lists, and nothing else.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  api/holdfast.symbols)
file(STRINGS api/holdfast.symbols HF_SYMBOLS REGEX "^hf_")
list(JOIN HF_SYMBOLS ";\n        " HF_SYMBOL_LINES)
set(HF_MAP ${HF_GENERATED}/holdfast.map)
file(CONFIGURE OUTPUT ${HF_MAP} CONTENT
"HOLDFAST_0 {
    global:
        @HF_SYMBOL_LINES@;
    local:
        *;
};
" @ONLY)

# What a program that links the static library needs as well.
function(hf_link_needs target scope)
  target_link_libraries(${target} ${scope} Threads::Threads ${CMAKE_DL_LIBS})
  foreach(pkg IN LISTS HF_BACKEND_PKGS)
    target_link_libraries(${target} ${scope}
      $<BUILD_INTERFACE:PkgConfig::${pkg}>)
  endforeach()
endfunction()

add_library(holdfast_shared SHARED $<TARGET_OBJECTS:holdfast_objects>)
set_target_properties(holdfast_shared PROPERTIES OUTPUT_NAME holdfast
  VERSION ${PROJECT_VERSION} SOVERSION 0 EXPORT_NAME holdfast
  LINK_DEPENDS ${HF_MAP})
target_link_options(holdfast_shared PRIVATE
  -Wl,--version-script=${HF_MAP})
# A look-up of a name cannot be stopped, and its thread may outlive the last
# client (net/resolve.c): its code must stay where it is.
target_link_options(holdfast_shared PRIVATE -Wl,-z,nodelete)
# A sanitizer's symbols come with the program, not with the library.
if(NOT HF_SANITIZE AND NOT HF_FUZZ)
  target_link_options(holdfast_shared PRIVATE -Wl,-z,defs)
endif()
hf_link_needs(holdfast_shared PRIVATE)

add_library(holdfast_static STATIC $<TARGET_OBJECTS:holdfast_objects>)
set_target_properties(holdfast_static PROPERTIES OUTPUT_NAME holdfast
  EXPORT_NAME static)
hf_link_needs(holdfast_static PUBLIC)

foreach(target holdfast_shared holdfast_static)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()

# What a backend module may use of base/ and sys/: linked into each module, for
# the library exports no internal symbol.
file(GLOB HF_BASE_SOURCES CONFIGURE_DEPENDS src/base/*.c src/sys/*.c)
add_library(holdfast_base STATIC EXCLUDE_FROM_ALL ${HF_BASE_SOURCES})
set_target_properties(holdfast_base PROPERTIES
  ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/test)
target_include_directories(holdfast_base PUBLIC include)
target_compile_options(holdfast_base PUBLIC ${HF_INTERNAL})
target_link_libraries(holdfast_base PUBLIC Threads::Threads)

# Backends that are modules, in build/module until they are installed.  Their
# objects are a target of their own, which their unit tests are linked with.
add_custom_target(modules)
foreach(name IN LISTS HF_BACKEND_MODULES)
  set(used "")
  set(own ${HF_MODULE_${name}_SOURCES})
  foreach(folder IN LISTS HF_MODULE_${name}_USES)
    file(GLOB paths CONFIGURE_DEPENDS src/${folder}/*.c)
    if(folder MATCHES "^backend/")
      list(APPEND own ${paths}) # the tests' library is without it, too
    else()
      list(APPEND used ${paths})
    endif()
  endforeach()
  list(FILTER used EXCLUDE REGEX "${HF_NET_ELSE}")
  file(GLOB_RECURSE paths CONFIGURE_DEPENDS src/backend/${name}/*.c)
  add_library(store-${name} OBJECT ${paths} ${own})
  add_library(store-${name}-module MODULE $<TARGET_OBJECTS:store-${name}>
    ${used})
  target_link_libraries(store-${name}-module PRIVATE holdfast_base)
  target_include_directories(store-${name} PRIVATE include)
  target_compile_options(store-${name} PRIVATE ${HF_INTERNAL})
  foreach(target store-${name} store-${name}-module)
    target_include_directories(${target} SYSTEM PRIVATE ${OPENSSL_INCLUDE_DIRS})
    foreach(pkg IN LISTS HF_MODULE_${name}_PKG)
      target_link_libraries(${target} PRIVATE PkgConfig::${pkg})
    endforeach()
  endforeach()
  foreach(target IN LISTS HF_BACKEND_TARGETS)
    add_dependencies(store-${name} ${target})
  endforeach()
  set_target_properties(store-${name}-module PROPERTIES
    PREFIX "libholdfast-" OUTPUT_NAME ${name}
    LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/module)
  add_dependencies(modules store-${name}-module)
  install(TARGETS store-${name}-module
    LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/holdfast)
endforeach()
