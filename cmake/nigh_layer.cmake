# SPDX-License-Identifier: Apache-2.0
# The layers of src/, and the flags that all of the project's own code is built with.

add_library(nigh_warnings INTERFACE)
target_compile_options(nigh_warnings INTERFACE -Wall -Wextra -Wpedantic
  $<$<COMPILE_LANGUAGE:C,CXX>:-Wshadow> -Wconversion $<$<COMPILE_LANGUAGE:C,CXX>:-Wsign-conversion>
  "$<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor;-Wold-style-cast;-Woverloaded-virtual>")
# g++ 12 sees overlapping copies where a literal joins a string (its bug 105651), and at -O3 takes
# std::sort of a small array's front for one of more than sixteen.
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(nigh_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:Release>>:-Wno-array-bounds>)
endif()
# clang blames us for the temporary buffer inside libstdc++ 12's stable algorithms.
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  target_compile_options(nigh_warnings INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-deprecated-declarations>)
endif()
add_library(nigh_flags INTERFACE)
target_link_libraries(nigh_flags INTERFACE nigh_warnings)
if(NIGH_CHAOS)
  target_compile_definitions(nigh_flags INTERFACE NIGH_CHAOS)
  target_include_directories(nigh_flags INTERFACE ${PROJECT_SOURCE_DIR}/tests/chaos)
endif()
if(NIGH_SANITIZE)
  target_compile_options(nigh_flags INTERFACE -fsanitize=${NIGH_SANITIZE} -fno-omit-frame-pointer
    -fno-sanitize-recover=all)
  target_link_options(nigh_flags INTERFACE -fsanitize=${NIGH_SANITIZE})
endif()
# What libFuzzer is led by, and what llvm-cov counts lines by.
if(NIGH_FUZZ)
  target_compile_options(nigh_flags INTERFACE -fsanitize=fuzzer-no-link -fprofile-instr-generate
    -fcoverage-mapping)
  target_link_options(nigh_flags INTERFACE -fprofile-instr-generate)
endif()

# nigh_precompiled(TARGET FROM HEADER...): with NIGH_PRECOMPILED, what most sources of TARGET begin with
# is compiled once, with FROM, whose flags are TARGET's.
function(nigh_precompiled target from)
  if(NOT NIGH_PRECOMPILED)
    return()
  endif()
  if(target STREQUAL from)
    list(TRANSFORM ARGN PREPEND "<")
    list(TRANSFORM ARGN APPEND ">")
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
set(nigh_standard_headers algorithm array atomic charconv chrono cmath cstddef cstdint cstdio cstdlib
  cstring deque filesystem fstream functional iterator limits map memory mutex numeric optional random
  set span sstream stdexcept string string_view system_error thread tuple utility variant vector)

# nigh_layer(NAME [APART] [SOURCES file...] [USES target...])
#
# Declares the layer in the current folder as the target nigh_NAME: a static library, or, without
# sources, a header-only one. USES names the layers right below it (and outside libraries); which
# folders may include which is checked by tests/tidy.py. Every layer joins the one library `nigh`, but
# for those APART, which programs of their own are made of.
function(nigh_layer name)
  cmake_parse_arguments(arg "APART" "" "SOURCES;USES" ${ARGN})
  if(arg_SOURCES)
    add_library(nigh_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(nigh_${name} PRIVATE nigh_flags)
    nigh_precompiled(nigh_${name} nigh_base ${nigh_standard_headers})
    if(NOT arg_APART)
      set_property(GLOBAL APPEND PROPERTY NIGH_LAYERS nigh_${name})
    endif()
  else()
    add_library(nigh_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(nigh_${name} ${scope}
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(nigh_${name} ${scope} ${arg_USES})
endfunction()
