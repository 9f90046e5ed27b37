# SPDX-License-Identifier: Apache-2.0
# Installs systemd's units below the prefix, where systemd looks when that is /usr or /usr/local. The prefix
# may be chosen as late as that, and have characters in it that systemd takes for its own.
cmake_path(ABSOLUTE_PATH nigh_bindir BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" NORMALIZE)
set(NIGHD "${nigh_bindir}/nighd")
string(REPLACE "\\" "\\\\" NIGHD "${NIGHD}")
string(REPLACE "\"" "\\\"" NIGHD "${NIGHD}")
string(REPLACE "%" "%%" NIGHD "${NIGHD}")
# The build folder may be installed to two prefixes at once.
string(RANDOM LENGTH 12 nigh_this_time)
foreach(unit nighd.service nighd.socket)
  configure_file("${nigh_units_from}/${unit}.in" "${nigh_units_made}/${nigh_this_time}/${unit}" @ONLY)
  file(INSTALL "${nigh_units_made}/${nigh_this_time}/${unit}" DESTINATION "${CMAKE_INSTALL_PREFIX}/lib/systemd/system")
endforeach()
file(REMOVE_RECURSE "${nigh_units_made}/${nigh_this_time}")
