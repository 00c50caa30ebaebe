# command.cmake: the command.  Linked with the static library, so that it
# starts fast and runs from anywhere; it sees only include/.
file(GLOB_RECURSE HF_CLI_SOURCES CONFIGURE_DEPENDS cli/*.c)
if(HF_CLI_SOURCES)
  add_executable(holdfast ${HF_CLI_SOURCES})
  target_compile_options(holdfast PRIVATE
    "SHELL:-iquote ${PROJECT_SOURCE_DIR}/cli"
    "SHELL:-iquote ${HF_GENERATED}/cli")
  target_link_libraries(holdfast PRIVATE holdfast_static)
endif()
