# SPDX-License-Identifier: Apache-2.0
# Run at install time: files with which shells complete nigh's words, as the installed command prints them, so that they
# know the benchmarks that came along. From nigh_install.cmake: nigh_bindir, nigh_datadir.
cmake_path(ABSOLUTE_PATH nigh_bindir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
cmake_path(ABSOLUTE_PATH nigh_datadir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
set(nigh_bash bash-completion/completions/nigh)
set(nigh_zsh zsh/site-functions/_nigh)
set(nigh_fish fish/vendor_completions.d/nigh.fish)
foreach(shell IN ITEMS bash zsh fish)
  execute_process(COMMAND "$ENV{DESTDIR}${nigh_bindir}/nigh" completion ${shell}
    OUTPUT_VARIABLE script ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)  # built for another machine
    message(STATUS "Not installed: completion for shells, since nigh does not run here; nigh completion ${shell} prints it")
    break()
  endif()
  set(file "${nigh_datadir}/${nigh_${shell}}")
  message(STATUS "Installing: $ENV{DESTDIR}${file}")
  file(WRITE "$ENV{DESTDIR}${file}" "${script}")
  list(APPEND CMAKE_INSTALL_MANIFEST_FILES "${file}")
endforeach()
