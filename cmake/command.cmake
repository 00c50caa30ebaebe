# command.cmake: the command.  Linked with the static library, so that it
# starts fast and runs from anywhere; it sees only include/, and for `holdfast
# lab` the library of servers and faults in lab/.  A scene of that is a file in
# cli/play/scene/; its name is that of the file.
file(GLOB HF_SCENES CONFIGURE_DEPENDS cli/play/scene/*.c)
set(HF_SCENE_EXTERNS "")
set(HF_SCENE_ROWS "")
foreach(path IN LISTS HF_SCENES)
  get_filename_component(stem ${path} NAME_WE)
  string(REPLACE "_" "-" name ${stem})
  string(APPEND HF_SCENE_EXTERNS "extern const struct scene scene_${stem};\n")
  string(APPEND HF_SCENE_ROWS "    {\"${name}\", &scene_${stem}}, \\\n")
endforeach()
file(CONFIGURE OUTPUT ${HF_GENERATED}/cli/scenes.h CONTENT
"/* scenes.h: generated from the names of cli/play/scene/NAME.c. */
#ifndef HF_SCENES_H
#define HF_SCENES_H

#include \"play/play.h\"

@HF_SCENE_EXTERNS@
/* Rows of struct scene_row. */
#define SCENE_ROWS \\
@HF_SCENE_ROWS@    {NULL, NULL}

#endif
" @ONLY)
# The shim that sets a server's clock is a file of its own: the command carries
# it, and writes it where its servers are.
add_custom_command(OUTPUT ${HF_GENERATED}/cli/clock_shim.c
  COMMAND ${CMAKE_COMMAND} -DIN=$<TARGET_FILE:clock_shim> -DNAME=clock_shim
    -DHEADER=play/clock_shim.h
    -DOUT=${HF_GENERATED}/cli/clock_shim.c
    -P ${PROJECT_SOURCE_DIR}/cmake/embed_file.cmake
  DEPENDS clock_shim cmake/embed_file.cmake VERBATIM)
file(GLOB_RECURSE HF_CLI_SOURCES CONFIGURE_DEPENDS cli/*.c)
if(HF_CLI_SOURCES)
  add_executable(holdfast ${HF_CLI_SOURCES} ${HF_GENERATED}/cli/clock_shim.c)
  target_compile_options(holdfast PRIVATE
    "SHELL:-iquote ${PROJECT_SOURCE_DIR}/cli"
    "SHELL:-iquote ${HF_GENERATED}/cli")
  target_link_libraries(holdfast PRIVATE holdfast_static lab)
endif()
