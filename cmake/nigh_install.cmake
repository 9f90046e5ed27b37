# SPDX-License-Identifier: Apache-2.0
# The places where `cmake --install` puts things: the library, its headers and the Fortran module, findable by
# find_package(nigh) and by pkg-config, the command and its manual.
include(CMakePackageConfigHelpers)

set(nigh_package ${CMAKE_INSTALL_LIBDIR}/cmake/nigh)
install(TARGETS nigh EXPORT nighTargets FILE_SET HEADERS LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS nigh_pstl EXPORT nighTargets)
install(TARGETS nigh_parallel_scheduler EXPORT nighTargets FILE_SET HEADERS)
install(EXPORT nighTargets NAMESPACE nigh:: DESTINATION ${nigh_package})
# Of each MPI that is here; its compiler wrapper brings the rest.
foreach(mpi IN LISTS NIGH_MPIS)
  install(TARGETS nigh_ranks_${mpi} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
endforeach()

write_basic_package_version_file(${PROJECT_BINARY_DIR}/nighConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
configure_file(${CMAKE_CURRENT_LIST_DIR}/nighConfig.cmake.in ${PROJECT_BINARY_DIR}/nighConfig.cmake
  @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nighConfig.cmake ${PROJECT_BINARY_DIR}/nighConfigVersion.cmake
  DESTINATION ${nigh_package})

# Relative to the file itself, so that the installed tree may be moved.
file(RELATIVE_PATH nigh_prefix_from_pc
  ${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
string(REGEX REPLACE "/$" "" nigh_prefix_from_pc "${nigh_prefix_from_pc}")
configure_file(${CMAKE_CURRENT_LIST_DIR}/nigh.pc.in ${PROJECT_BINARY_DIR}/nigh.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/nigh.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

configure_file(${CMAKE_CURRENT_LIST_DIR}/nigh-uninstalled.pc.in ${PROJECT_BINARY_DIR}/nigh-uninstalled.pc @ONLY)

# The module's source for any compiler; compiled, for the one that was there.
install(FILES ${PROJECT_SOURCE_DIR}/fortran/nigh.f90
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nigh/fortran)
if(TARGET nigh_fortran)
  get_target_property(modules nigh_fortran Fortran_MODULE_DIRECTORY)
  install(FILES ${modules}/nigh.mod DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/nigh/fortran)
  install(TARGETS nigh_fortran EXPORT nighFortranTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  install(EXPORT nighFortranTargets NAMESPACE nigh:: DESTINATION ${nigh_package})
  configure_file(${CMAKE_CURRENT_LIST_DIR}/nigh-fortran.pc.in ${PROJECT_BINARY_DIR}/nigh-fortran.pc
    @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/nigh-fortran.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endif()

# The component `tools`, which the Python wheel is made of, has the commands and what they need of the tree.
install(DIRECTORY machines DESTINATION ${CMAKE_INSTALL_DATADIR}/nigh COMPONENT tools FILES_MATCHING PATTERN "*.json"
  PATTERN "*.xml")
if(NIGH_TOOLS)
  install(TARGETS nigh_cli nighd RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT tools)
  install(TARGETS nigh_openmp nigh_places nigh_tasks LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/nigh
    COMPONENT tools)
  if(TARGET nigh_python)
    install(TARGETS nigh_python LIBRARY DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/nigh COMPONENT tools)
    install(FILES src/python/nigh-python.h DESTINATION ${CMAKE_INSTALL_LIBEXECDIR}/nigh COMPONENT tools)
    # The wheel has the module by itself.
    if(NIGH_PYTHON_DIR)
      install(DIRECTORY python/nigh DESTINATION ${NIGH_PYTHON_DIR} COMPONENT python PATTERN __pycache__ EXCLUDE)
    endif()
  endif()
  include(${PROJECT_SOURCE_DIR}/tests/numa_vm/install.cmake)
  install(DIRECTORY docs/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools FILES_MATCHING PATTERN "*.1")
  install(FILES docs/man/nighd.8 DESTINATION ${CMAKE_INSTALL_MANDIR}/man8 COMPONENT tools)
  install(CODE "
    set(nigh_units_from [[${PROJECT_SOURCE_DIR}/share/systemd]])
    set(nigh_units_made [[${PROJECT_BINARY_DIR}/share/systemd]])
    set(nigh_bindir [[${CMAKE_INSTALL_BINDIR}]])")
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/nigh_install_units.cmake)
  install(CODE "
    set(nigh_bindir [[${CMAKE_INSTALL_BINDIR}]])
    set(nigh_datadir [[${CMAKE_INSTALL_DATADIR}]])")
  # In no component: pip would put them where no shell looks.
  install(SCRIPT ${PROJECT_SOURCE_DIR}/cmake/nigh_install_completion.cmake)
  foreach(program IN ITEMS nighd numa-vm)
    foreach(shell_file bash:bash-completion/completions/${program} zsh:zsh/site-functions/_${program}
        fish:fish/vendor_completions.d/${program}.fish)
      string(REGEX MATCH "^([a-z]+):(.*)/([^/]*)$" matched ${shell_file})
      set(made ${PROJECT_BINARY_DIR}/share/completion/${CMAKE_MATCH_1}/${CMAKE_MATCH_3})
      set(folder ${CMAKE_INSTALL_DATADIR}/${CMAKE_MATCH_2})
      configure_file(${PROJECT_SOURCE_DIR}/share/completion/program.${CMAKE_MATCH_1}.in ${made} @ONLY)
      install(FILES ${made} DESTINATION ${folder})
    endforeach()
  endforeach()
endif()

# `cmake --build BUILD --target package`: a release tarball, which works wherever it is unpacked.
set(CPACK_GENERATOR TGZ)
set(CPACK_PACKAGE_VENDOR nigh)
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
string(TOLOWER nigh-${PROJECT_VERSION}-${CMAKE_SYSTEM_NAME}-${CMAKE_SYSTEM_PROCESSOR} CPACK_PACKAGE_FILE_NAME)
set(CPACK_STRIP_FILES ON)
include(CPack)
