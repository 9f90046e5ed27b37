# SPDX-License-Identifier: Apache-2.0
# numa-vm as users get it; whether or not tests are built.

set(installed_numa_vm ${CMAKE_INSTALL_LIBEXECDIR}/nigh/numa-vm)
install(PROGRAMS ${CMAKE_CURRENT_LIST_DIR}/numa-vm DESTINATION ${installed_numa_vm})
install(FILES ${CMAKE_CURRENT_LIST_DIR}/guest-init.sh ${CMAKE_CURRENT_LIST_DIR}/locality_meter.c
  ${CMAKE_CURRENT_LIST_DIR}/../arguments.py
  DESTINATION ${installed_numa_vm})
file(WRITE ${PROJECT_BINARY_DIR}/numa-vm-link/version "${PROJECT_VERSION}\n")
install(FILES ${PROJECT_BINARY_DIR}/numa-vm-link/version DESTINATION ${installed_numa_vm})
install(DIRECTORY ${CMAKE_CURRENT_LIST_DIR}/numa_vm DESTINATION ${installed_numa_vm}
  FILES_MATCHING PATTERN *.py)
# The command finds its parts beside the file that this link leads to.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/bin ${PROJECT_BINARY_DIR}/numa-vm-link)
file(CREATE_LINK ../${installed_numa_vm}/numa-vm ${PROJECT_BINARY_DIR}/numa-vm-link/numa-vm SYMBOLIC)
# Beside the commands of the build, too: they look for it there.
file(CREATE_LINK ${CMAKE_CURRENT_LIST_DIR}/numa-vm ${PROJECT_BINARY_DIR}/bin/numa-vm SYMBOLIC)
install(FILES ${PROJECT_BINARY_DIR}/numa-vm-link/numa-vm DESTINATION ${CMAKE_INSTALL_BINDIR})
