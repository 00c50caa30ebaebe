# module.cmake: the etcd store needs nghttp2 and protobuf-c, with its compiler.
pkg_check_modules(ETCD IMPORTED_TARGET libnghttp2>=1.41 libprotobuf-c>=1.3)
find_program(HF_PROTOC_C NAMES protoc-c)
set(HF_ETCD_FOUND FALSE)
if(ETCD_FOUND AND HF_PROTOC_C)
  set(HF_ETCD_FOUND TRUE)
endif()

# The messages become one C file.
set(HF_ETCD_PROTO ${PROJECT_SOURCE_DIR}/src/backend/etcd/etcd.proto)
set(HF_ETCD_PB ${HF_GENERATED}/etcd.pb-c.c)
if(HF_ETCD_FOUND)
  add_custom_command(
    OUTPUT ${HF_ETCD_PB} ${HF_GENERATED}/etcd.pb-c.h
    COMMAND ${HF_PROTOC_C} --proto_path=${PROJECT_SOURCE_DIR}/src/backend/etcd
            --c_out=${HF_GENERATED} ${HF_ETCD_PROTO}
    DEPENDS ${HF_ETCD_PROTO}
    COMMENT "Compiling the messages of etcd" VERBATIM)
  add_custom_target(etcd-messages DEPENDS ${HF_ETCD_PB})
  set_source_files_properties(${HF_ETCD_PB} PROPERTIES COMPILE_OPTIONS -w)
endif()

hf_backend(etcd MODULE IF HF_ETCD_FOUND
  SCHEMES etcd etcds
  WITHOUT "install the packages libnghttp2-dev, libprotobuf-c-dev and protobuf-c-compiler, and build holdfast again"
  PROBES etcd=etcd://127.0.0.1:1/
  CONTRACT etcd
  PKG ETCD
  SOURCES ${HF_ETCD_PB}
  TARGETS etcd-messages
  USES net rules backend/sql)
