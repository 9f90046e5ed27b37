# SPDX-License-Identifier: Apache-2.0
# nigh_commit: what measurements are recorded as made with.
execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} describe --always --dirty --abbrev=12
  OUTPUT_VARIABLE nigh_commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT nigh_commit)
  set(nigh_commit "v${PROJECT_VERSION}")
else()  # configure again when HEAD moves
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --path-format=absolute
    --git-path logs/HEAD OUTPUT_VARIABLE head_log OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(EXISTS "${head_log}")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${head_log})
  endif()
endif()
