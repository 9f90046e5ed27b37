# SPDX-License-Identifier: Apache-2.0
# NIGH_PORTABLE: commands that need no library other than glibc, 2.28 or later, for the Python wheel. Other libraries
# are linked in, from static archives.
option(NIGH_PORTABLE "link commands that need glibc 2.28 or later and no other library" OFF)

# nigh_static_package(PREFIX ARCHIVE... [WITH FLAG...]): PkgConfig::PREFIX means these static libraries.
function(nigh_static_package prefix)
  cmake_parse_arguments(arg "" "" "WITH" ${ARGN})
  set_property(GLOBAL APPEND PROPERTY NIGH_STATIC_ARCHIVES ${arg_UNPARSED_ARGUMENTS})
  if(NOT NIGH_PORTABLE)
    return()
  endif()
  set(archives "")
  foreach(name IN LISTS arg_UNPARSED_ARGUMENTS)
    find_library(NIGH_STATIC_${name} NAMES lib${name}.a REQUIRED)
    list(APPEND archives ${NIGH_STATIC_${name}})
  endforeach()
  set_target_properties(PkgConfig::${prefix} PROPERTIES INTERFACE_LINK_LIBRARIES "${archives};${arg_WITH}")
endfunction()

# nigh_portable_library(TARGET), nigh_portable_program(TARGET). tests/packages/old_glibc_test.py looks at what is built
# without NIGH_PORTABLE, and says what glibc 2.28 has not.
function(nigh_portable_library target)
  set_property(GLOBAL APPEND PROPERTY NIGH_PORTABLE_TARGETS ${target})
  if(NOT NIGH_PORTABLE)
    return()
  endif()
  if(NOT NIGH_OLD_GLIBC)
    message(FATAL_ERROR "NIGH_PORTABLE: it is not known here which versions of glibc's functions are the old ones")
  endif()
  nigh_old_glibc(${target})
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/platform/old_glibc_libraries.cpp)
  target_link_options(${target} PRIVATE -static-libstdc++ -static-libgcc)
endfunction()

function(nigh_portable_program target)
  nigh_portable_library(${target})
  if(NIGH_PORTABLE)
    target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/platform/old_glibc_program.cpp
      ${PROJECT_SOURCE_DIR}/src/platform/no_udev.c)
  endif()
endfunction()

if(NIGH_PORTABLE)
  # The licences of all that is linked in, as Debian gives them.
  foreach(package libbz2-dev libcli11-dev libelf-dev libfmt-dev libhwloc-dev liblzma-dev libncurses-dev libre2-dev
      libspdlog-dev libstdc++-12-dev nlohmann-json3-dev zlib1g-dev)
    if(EXISTS /usr/share/doc/${package}/copyright)
      file(REAL_PATH /usr/share/doc/${package}/copyright notice)
      install(FILES ${notice} DESTINATION ${CMAKE_INSTALL_DATADIR}/nigh/licences RENAME ${package} COMPONENT tools)
    else()
      message(WARNING "${package} has no copyright file here: do not pass on what is built")
    endif()
  endforeach()
  foreach(licence Apache-2.0 GPL-2 GPL-3 LGPL-3)
    if(EXISTS /usr/share/common-licenses/${licence})
      file(REAL_PATH /usr/share/common-licenses/${licence} text)
      install(FILES ${text} DESTINATION ${CMAKE_INSTALL_DATADIR}/nigh/licences RENAME ${licence} COMPONENT tools)
    endif()
  endforeach()
  set(fmt_DIR ${CMAKE_CURRENT_LIST_DIR}/portable)
  set(spdlog_DIR ${CMAKE_CURRENT_LIST_DIR}/portable)
endif()
