# examples.cmake: every example is built, against the shared library, as a
# user's program would be.
file(GLOB HF_EXAMPLES CONFIGURE_DEPENDS examples/*.c)
pkg_check_modules(HF_LOOP_uv IMPORTED_TARGET libuv)
pkg_check_modules(HF_LOOP_event IMPORTED_TARGET libevent_core)
foreach(loop uv event)
  if(NOT HF_LOOP_${loop}_FOUND)
    message(STATUS "lib${loop} not found: examples/${loop}.c is left out")
    list(FILTER HF_EXAMPLES EXCLUDE REGEX "/${loop}\\.c$")
  endif()
endforeach()
foreach(path IN LISTS HF_EXAMPLES)
  get_filename_component(stem ${path} NAME_WE)
  add_executable(example-${stem} ${path})
  target_link_libraries(example-${stem} PRIVATE holdfast_shared
    Threads::Threads)
  if(HF_LOOP_${stem}_FOUND)
    target_link_libraries(example-${stem} PRIVATE PkgConfig::HF_LOOP_${stem})
  endif()
  set_target_properties(example-${stem} PROPERTIES OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
endforeach()
