# SPDX-License-Identifier: Apache-2.0
# spdlog as headers alone, for NIGH_PORTABLE: Debian has no static library of it.
include(CMakeFindDependencyMacro)
find_dependency(fmt)
find_path(NIGH_SPDLOG_INCLUDE spdlog/spdlog-inl.h REQUIRED)
if(NOT TARGET spdlog::spdlog)
  add_library(spdlog::spdlog INTERFACE IMPORTED)
  target_include_directories(spdlog::spdlog INTERFACE ${NIGH_SPDLOG_INCLUDE})
  target_compile_definitions(spdlog::spdlog INTERFACE SPDLOG_FMT_EXTERNAL)
  target_link_libraries(spdlog::spdlog INTERFACE fmt::fmt)
endif()
