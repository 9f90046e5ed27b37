# SPDX-License-Identifier: Apache-2.0
# The layers of src/, and the flags that all of the project's own code is built with.

add_library(nigh_warnings INTERFACE)
target_compile_options(nigh_warnings INTERFACE -Wall -Wextra -Wpedantic
  $<$<COMPILE_LANGUAGE:C,CXX>:$<IF:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>,$<$<CXX_COMPILER_ID:GNU>:-Wshadow=local>,-Wshadow>>
  -Wconversion $<$<COMPILE_LANGUAGE:C,CXX>:-Wsign-conversion>
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
# libFuzzer is led by these counters, and llvm-cov counts lines by them.
if(NIGH_FUZZ)
  target_compile_options(nigh_flags INTERFACE -fsanitize=fuzzer-no-link -fprofile-instr-generate
    -fcoverage-mapping)
  target_link_options(nigh_flags INTERFACE -fprofile-instr-generate)
endif()

# With less memory gcc looks for garbage again and again: eight sources at once compile in 92% of the time, and take
# some 150 MiB more.
if(NIGH_UNITY AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(nigh_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--param=ggc-min-heapsize=1048576>)
endif()

# nigh_unity(TARGET): with NIGH_UNITY, TARGET's sources are compiled sixteen at a time, as if they were one file: the
# headers that they share, which take half of the time, are read once. A local name may be that of another
# file's helper then.
function(nigh_unity target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${NIGH_UNITY} UNITY_BUILD_BATCH_SIZE 16)
endfunction()

# The layer table, which tests/tidy.py and the picture of the architecture read, too: below_FOLDER lists
# the folders right below each one.
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
  ${PROJECT_SOURCE_DIR}/cmake/layers.json)
file(READ ${PROJECT_SOURCE_DIR}/cmake/layers.json table)
string(JSON rows LENGTH ${table} layers)
math(EXPR rows "${rows} - 1")
foreach(row RANGE ${rows})
  string(JSON folder GET ${table} layers ${row} folder)
  string(JSON count LENGTH ${table} layers ${row} may_include)
  set(below_${folder} "")
  while(count GREATER 0)
    math(EXPR count "${count} - 1")
    string(JSON below GET ${table} layers ${row} may_include ${count})
    list(PREPEND below_${folder} ${below})
  endwhile()
endforeach()

# nigh_layer_target(VARIABLE FOLDER): the target of a layer; src/coordinator/core is nigh_coordinator_core.
function(nigh_layer_target variable folder)
  string(REGEX REPLACE "^src/|^lab/" "" name ${folder})
  string(REPLACE / _ name ${name})
  string(REGEX REPLACE "^workloads_" "workload_" target ${name})
  if(target STREQUAL name)
    set(target nigh_${name})
  endif()
  set(${variable} ${target} PARENT_SCOPE)
endfunction()

# nigh_layer(NAME [APART] [SOURCES file...] [USES target...])
#
# Declares the layer in the current folder as the target nigh_NAME: a static library, or, without
# sources, a header-only one. It links to the layers right below it in the table; USES names outside
# libraries, and a layer only where the table allows it. Every layer joins the one library `nigh`, other
# than those APART, which programs of their own are made of.
function(nigh_layer name)
  cmake_parse_arguments(arg "APART" "" "SOURCES;USES" ${ARGN})
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR} ${CMAKE_CURRENT_SOURCE_DIR})
  if(NOT DEFINED below_${folder})
    message(FATAL_ERROR "${folder} is no layer of cmake/layers.json")
  endif()
  set(layers "")
  set(to_do ${below_${folder}})
  foreach(below IN LISTS to_do)
    nigh_layer_target(target ${below})
    list(APPEND layers ${target})
  endforeach()
  set(allowed "")
  while(to_do)
    list(POP_FRONT to_do below)
    nigh_layer_target(target ${below})
    list(APPEND allowed ${target})
    list(APPEND to_do ${below_${below}})
  endwhile()
  foreach(target IN LISTS arg_USES)
    if(target MATCHES "^(nigh|workload)_" AND NOT target IN_LIST allowed)
      message(FATAL_ERROR "${folder} uses ${target}, which cmake/layers.json does not let it include")
    endif()
  endforeach()
  if(arg_SOURCES)
    add_library(nigh_${name} STATIC ${arg_SOURCES})
    set(scope PUBLIC)
    target_link_libraries(nigh_${name} PRIVATE nigh_flags)
    nigh_unity(nigh_${name})
    if(NOT arg_APART)
      set_property(GLOBAL APPEND PROPERTY NIGH_LAYERS nigh_${name})
    endif()
  else()
    add_library(nigh_${name} INTERFACE)
    set(scope INTERFACE)
  endif()
  target_include_directories(nigh_${name} ${scope}
    ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(nigh_${name} ${scope} ${layers} ${arg_USES})
endfunction()
