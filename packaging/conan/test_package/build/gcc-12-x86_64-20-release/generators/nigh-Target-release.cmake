# Avoid multiple calls to find_package to append duplicated properties to the targets
include_guard()########### VARIABLES #######################################################################
#############################################################################################
set(nigh_FRAMEWORKS_FOUND_RELEASE "") # Will be filled later
conan_find_apple_frameworks(nigh_FRAMEWORKS_FOUND_RELEASE "${nigh_FRAMEWORKS_RELEASE}" "${nigh_FRAMEWORK_DIRS_RELEASE}")

set(nigh_LIBRARIES_TARGETS "") # Will be filled later


######## Create an interface target to contain all the dependencies (frameworks, system and conan deps)
if(NOT TARGET nigh_DEPS_TARGET)
    add_library(nigh_DEPS_TARGET INTERFACE IMPORTED)
endif()

set_property(TARGET nigh_DEPS_TARGET
             APPEND PROPERTY INTERFACE_LINK_LIBRARIES
             $<$<CONFIG:Release>:${nigh_FRAMEWORKS_FOUND_RELEASE}>
             $<$<CONFIG:Release>:${nigh_SYSTEM_LIBS_RELEASE}>
             $<$<CONFIG:Release>:>)

####### Find the libraries declared in cpp_info.libs, create an IMPORTED target for each one and link the
####### nigh_DEPS_TARGET to all of them
conan_package_library_targets("${nigh_LIBS_RELEASE}"    # libraries
                              "${nigh_LIB_DIRS_RELEASE}" # package_libdir
                              "${nigh_BIN_DIRS_RELEASE}" # package_bindir
                              "${nigh_LIBRARY_TYPE_RELEASE}"
                              "${nigh_IS_HOST_WINDOWS_RELEASE}"
                              nigh_DEPS_TARGET
                              nigh_LIBRARIES_TARGETS  # out_libraries_targets
                              "_RELEASE"
                              "nigh"    # package_name
                              "${nigh_NO_SONAME_MODE_RELEASE}")  # soname

# FIXME: What is the result of this for multi-config? All configs adding themselves to path?
set(CMAKE_MODULE_PATH ${nigh_BUILD_DIRS_RELEASE} ${CMAKE_MODULE_PATH})

########## GLOBAL TARGET PROPERTIES Release ########################################
    set_property(TARGET nigh::nigh
                 APPEND PROPERTY INTERFACE_LINK_LIBRARIES
                 $<$<CONFIG:Release>:${nigh_OBJECTS_RELEASE}>
                 $<$<CONFIG:Release>:${nigh_LIBRARIES_TARGETS}>
                 )

    if("${nigh_LIBS_RELEASE}" STREQUAL "")
        # If the package is not declaring any "cpp_info.libs" the package deps, system libs,
        # frameworks etc are not linked to the imported targets and we need to do it to the
        # global target
        set_property(TARGET nigh::nigh
                     APPEND PROPERTY INTERFACE_LINK_LIBRARIES
                     nigh_DEPS_TARGET)
    endif()

    set_property(TARGET nigh::nigh
                 APPEND PROPERTY INTERFACE_LINK_OPTIONS
                 $<$<CONFIG:Release>:${nigh_LINKER_FLAGS_RELEASE}>)
    set_property(TARGET nigh::nigh
                 APPEND PROPERTY INTERFACE_INCLUDE_DIRECTORIES
                 $<$<CONFIG:Release>:${nigh_INCLUDE_DIRS_RELEASE}>)
    # Necessary to find LINK shared libraries in Linux
    set_property(TARGET nigh::nigh
                 APPEND PROPERTY INTERFACE_LINK_DIRECTORIES
                 $<$<CONFIG:Release>:${nigh_LIB_DIRS_RELEASE}>)
    set_property(TARGET nigh::nigh
                 APPEND PROPERTY INTERFACE_COMPILE_DEFINITIONS
                 $<$<CONFIG:Release>:${nigh_COMPILE_DEFINITIONS_RELEASE}>)
    set_property(TARGET nigh::nigh
                 APPEND PROPERTY INTERFACE_COMPILE_OPTIONS
                 $<$<CONFIG:Release>:${nigh_COMPILE_OPTIONS_RELEASE}>)

########## For the modules (FindXXX)
set(nigh_LIBRARIES_RELEASE nigh::nigh)
