# embed_file.cmake: the bytes of a file as a C source.
#
#   cmake -DIN=clock_shim.so -DOUT=clock_shim.c -DNAME=clock_shim
#         -DHEADER=play/clock_shim.h -P embed_file.cmake
file(READ ${IN} bytes HEX)
string(LENGTH "${bytes}" digits)
math(EXPR len "${digits} / 2")
string(REGEX REPLACE "(................................)" "\\1\n" bytes
  "${bytes}")
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," bytes "${bytes}")
get_filename_component(file ${IN} NAME)
file(CONFIGURE OUTPUT ${OUT} CONTENT
"/* Generated from ${file} by embed_file.cmake. */
#include \"${HEADER}\"

const size_t ${NAME}_len = ${len};
const unsigned char ${NAME}[] = {
${bytes}
};
" @ONLY)
