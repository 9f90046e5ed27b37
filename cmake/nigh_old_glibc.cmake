# SPDX-License-Identifier: Apache-2.0
# nigh_old_glibc(TARGET): it runs with every glibc from 2.28 on (src/platform/old_glibc.cpp), where
# that is known to work. Before 2.34 some of what it calls is in libpthread and libdl, which are
# there still, and empty.
include(CheckSymbolExists)
check_symbol_exists(__GLIBC__ features.h NIGH_HAS_GLIBC)
set(NIGH_OLD_GLIBC OFF)
if(NIGH_HAS_GLIBC AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64|aarch64|arm64)$")
  set(NIGH_OLD_GLIBC ON)
endif()
function(nigh_old_glibc target)
  if(NOT NIGH_OLD_GLIBC)
    return()
  endif()
  target_sources(${target} PRIVATE ${PROJECT_SOURCE_DIR}/src/platform/old_glibc.cpp)
  target_link_options(${target} PRIVATE
    -Wl,--push-state,--no-as-needed,-l:libpthread.so.0,-l:libdl.so.2,--pop-state)
endfunction()
