# install.cmake: what `make install` puts where.  Nothing else is installed.
include(CMakePackageConfigHelpers)

install(TARGETS holdfast_shared holdfast_static EXPORT holdfastTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/holdfast DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
if(TARGET holdfast)
  install(TARGETS holdfast RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# What a static program needs besides, as flags: a program that links the shared
# library needs none of it, nor the .pc files that Requires.private would read.
set(HF_LIBS_PRIVATE -pthread)
set(HF_PKG_MODULES "")
foreach(pkg IN LISTS HF_BACKEND_PKGS)
  list(APPEND HF_LIBS_PRIVATE ${${pkg}_STATIC_LDFLAGS})
  list(APPEND HF_PKG_MODULES ${${pkg}_MODULE_NAME})
endforeach()
# Where linkers look anyway.
list(FILTER HF_LIBS_PRIVATE EXCLUDE REGEX "^-L(/usr)?/lib(64)?(/[^/]+)?$")
list(JOIN HF_LIBS_PRIVATE " " HF_LIBS_PRIVATE)
configure_file(cmake/holdfast.pc.in ${HF_GENERATED}/holdfast.pc @ONLY)
install(FILES ${HF_GENERATED}/holdfast.pc
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

set(HF_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/holdfast)
configure_package_config_file(cmake/holdfastConfig.cmake.in
  ${HF_GENERATED}/holdfastConfig.cmake INSTALL_DESTINATION ${HF_CMAKE_DIR})
write_basic_package_version_file(${HF_GENERATED}/holdfastConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${HF_GENERATED}/holdfastConfig.cmake
  ${HF_GENERATED}/holdfastConfigVersion.cmake DESTINATION ${HF_CMAKE_DIR})
install(EXPORT holdfastTargets NAMESPACE holdfast::
  DESTINATION ${HF_CMAKE_DIR})

install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

# Manual pages by their section.
foreach(section 1 3 5 7)
  file(GLOB pages CONFIGURE_DEPENDS docs/man/*.${section})
  if(pages)
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  endif()
endforeach()

# Completions, which the command prints from its own option tables.
function(hf_completion shell file dir)
  set(path ${HF_GENERATED}/completions/${file})
  add_custom_command(OUTPUT ${path}
    COMMAND sh -c "\"$1\" __complete \"$2\" >\"$3\"" sh
            $<TARGET_FILE:holdfast> ${shell} ${path}
    DEPENDS holdfast VERBATIM)
  add_custom_target(completion-${shell} ALL DEPENDS ${path})
  add_dependencies(completions completion-${shell})
  install(FILES ${path} DESTINATION ${CMAKE_INSTALL_DATADIR}/${dir})
endfunction()
if(TARGET holdfast AND NOT CMAKE_CROSSCOMPILING)
  file(MAKE_DIRECTORY ${HF_GENERATED}/completions)
  add_custom_target(completions)
  hf_completion(bash holdfast bash-completion/completions)
  hf_completion(zsh _holdfast zsh/site-functions)
  hf_completion(fish holdfast.fish fish/vendor_completions.d)
endif()
