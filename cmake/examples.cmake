# examples.cmake: every example is built, against the shared library, as a
# user's program would be.
file(GLOB HF_EXAMPLES CONFIGURE_DEPENDS examples/*.c)
foreach(path IN LISTS HF_EXAMPLES)
  get_filename_component(stem ${path} NAME_WE)
  add_executable(example-${stem} ${path})
  target_link_libraries(example-${stem} PRIVATE holdfast_shared
    Threads::Threads)
  set_target_properties(example-${stem} PROPERTIES OUTPUT_NAME ${stem}
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/examples)
endforeach()
