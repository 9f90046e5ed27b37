# SPDX-License-Identifier: Apache-2.0
# vcpkg's port of the library: vcpkg install nigh --overlay-ports=packaging/vcpkg
#
# There is no public place to fetch nigh from yet: this builds the clone that the port lies in. vcpkg's ports are
# libraries; the commands come by other ways (docs/install.md).
get_filename_component(SOURCE_PATH "${CMAKE_CURRENT_LIST_DIR}/../.." ABSOLUTE)

# src/CMakeLists.txt makes a shared library only.
vcpkg_check_linkage(ONLY_DYNAMIC_LIBRARY)

vcpkg_find_acquire_program(PKGCONFIG)
vcpkg_cmake_configure(
  SOURCE_PATH "${SOURCE_PATH}"
  OPTIONS
    -DNIGH_TESTS=OFF
    -DNIGH_TOOLS=OFF
    -DNIGH_WORKLOADS=OFF
    -DNIGH_FORTRAN=OFF
    -DNIGH_MPI=OFF
    "-DPKG_CONFIG_EXECUTABLE=${PKGCONFIG}"
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(PACKAGE_NAME nigh CONFIG_PATH lib/cmake/nigh)
vcpkg_fixup_pkgconfig()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
