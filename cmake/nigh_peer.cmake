# SPDX-License-Identifier: Apache-2.0
# A program built by another compiler than the rest, for benchmarks whose peer is that compiler's
# runtime.

# nigh_peer_compiler(VARIABLE NAME...): sets VARIABLE to the first of these compilers that is there
# and can build an OpenMP program, to nothing when there is none.
function(nigh_peer_compiler variable)
  if(NOT DEFINED CACHE{${variable}})
    set(found "")
    set(probe ${CMAKE_BINARY_DIR}/CMakeFiles/${variable}.cpp)
    file(WRITE ${probe} "#include <omp.h>\nint main() { return omp_get_thread_num(); }\n")
    foreach(name ${ARGN})
      find_program(compiler ${name} NO_CACHE)
      if(compiler)
        execute_process(COMMAND ${compiler} -std=c++20 -fopenmp ${probe} -o ${probe}.out
          RESULT_VARIABLE failed OUTPUT_QUIET ERROR_QUIET)
        if(NOT failed)
          set(found ${compiler})
          break()
        endif()
      endif()
      unset(compiler)
    endforeach()
    set(${variable} "${found}" CACHE FILEPATH "compiler of the program with the other OpenMP")
  endif()
endfunction()

# nigh_peer(NAME COMPILER path SOURCES file... FLAGS flag... LINK library...): the program NAME in
# libexec/nigh. The libraries are static ones of this build.
function(nigh_peer name)
  cmake_parse_arguments(arg "" "COMPILER" "SOURCES;FLAGS;LINK" ${ARGN})
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  separate_arguments(flags UNIX_COMMAND "${CMAKE_CXX_FLAGS_${type}}")
  if(CMAKE_COMPILE_WARNING_AS_ERROR)
    list(APPEND flags -Werror)
  endif()
  list(APPEND flags -std=c++20 -Wall -Wextra ${arg_FLAGS})
  set(objects "")
  foreach(source ${arg_SOURCES})
    file(RELATIVE_PATH path ${PROJECT_SOURCE_DIR} ${source})
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${name}.dir/${path}.o)
    get_filename_component(folder ${object} DIRECTORY)
    file(MAKE_DIRECTORY ${folder})
    add_custom_command(OUTPUT ${object} DEPFILE ${object}.d DEPENDS ${source} VERBATIM
      COMMAND ${CMAKE_CXX_COMPILER_LAUNCHER} ${arg_COMPILER} ${flags} -MD -MF ${object}.d
        -c ${source} -o ${object}
      COMMENT "Building ${path} for ${name}")
    list(APPEND objects ${object})
  endforeach()
  set(libraries "")
  foreach(target ${arg_LINK})
    list(APPEND libraries $<TARGET_FILE:${target}>)
  endforeach()
  set(program ${nigh_bench_dir}/${name})
  add_custom_command(OUTPUT ${program} DEPENDS ${objects} ${arg_LINK} VERBATIM
    COMMAND ${arg_COMPILER} ${flags} ${objects} ${libraries} -o ${program}
    COMMENT "Linking ${name}")
  add_custom_target(${name} ALL DEPENDS ${program})
  install(PROGRAMS ${program} DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/nigh)
endfunction()
