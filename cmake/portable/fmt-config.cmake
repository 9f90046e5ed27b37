# SPDX-License-Identifier: Apache-2.0
# fmt as headers alone, for NIGH_PORTABLE: Debian has no static library of it.
find_path(NIGH_FMT_INCLUDE fmt/format-inl.h REQUIRED)
if(NOT TARGET fmt::fmt)
  add_library(fmt::fmt INTERFACE IMPORTED)
  target_include_directories(fmt::fmt INTERFACE ${NIGH_FMT_INCLUDE})
  target_compile_definitions(fmt::fmt INTERFACE FMT_HEADER_ONLY)
endif()
