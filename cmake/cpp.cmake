# cpp.cmake: what is in C++, if there is a compiler: tests of holdfast.hpp and an
# example.  The library needs none.
include(CheckLanguage)
check_language(CXX)
if(CMAKE_CXX_COMPILER)
  set(CMAKE_CXX_STANDARD 17)
  set(CMAKE_CXX_STANDARD_REQUIRED ON)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}")
  enable_language(CXX)
else()
  message(STATUS "no C++ compiler: the tests of holdfast.hpp are left out")
endif()
