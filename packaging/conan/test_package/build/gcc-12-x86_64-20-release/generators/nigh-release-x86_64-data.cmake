########### AGGREGATED COMPONENTS AND DEPENDENCIES FOR THE MULTI CONFIG #####################
#############################################################################################

set(nigh_COMPONENT_NAMES "")
if(DEFINED nigh_FIND_DEPENDENCY_NAMES)
  list(APPEND nigh_FIND_DEPENDENCY_NAMES )
  list(REMOVE_DUPLICATES nigh_FIND_DEPENDENCY_NAMES)
else()
  set(nigh_FIND_DEPENDENCY_NAMES )
endif()

########### VARIABLES #######################################################################
#############################################################################################
set(nigh_PACKAGE_FOLDER_RELEASE "/tmp/tmp.BuE37GTsuo/conan/p/b/nigh5776fd1b78892/p")
set(nigh_BUILD_MODULES_PATHS_RELEASE )


set(nigh_INCLUDE_DIRS_RELEASE "${nigh_PACKAGE_FOLDER_RELEASE}/include")
set(nigh_RES_DIRS_RELEASE )
set(nigh_DEFINITIONS_RELEASE )
set(nigh_SHARED_LINK_FLAGS_RELEASE )
set(nigh_EXE_LINK_FLAGS_RELEASE )
set(nigh_OBJECTS_RELEASE )
set(nigh_COMPILE_DEFINITIONS_RELEASE )
set(nigh_COMPILE_OPTIONS_C_RELEASE )
set(nigh_COMPILE_OPTIONS_CXX_RELEASE )
set(nigh_LIB_DIRS_RELEASE "${nigh_PACKAGE_FOLDER_RELEASE}/lib")
set(nigh_BIN_DIRS_RELEASE "${nigh_PACKAGE_FOLDER_RELEASE}/bin")
set(nigh_LIBRARY_TYPE_RELEASE SHARED)
set(nigh_IS_HOST_WINDOWS_RELEASE 0)
set(nigh_LIBS_RELEASE nigh)
set(nigh_SYSTEM_LIBS_RELEASE pthread)
set(nigh_FRAMEWORK_DIRS_RELEASE )
set(nigh_FRAMEWORKS_RELEASE )
set(nigh_BUILD_DIRS_RELEASE )
set(nigh_NO_SONAME_MODE_RELEASE FALSE)


# COMPOUND VARIABLES
set(nigh_COMPILE_OPTIONS_RELEASE)
if (NOT "${nigh_COMPILE_OPTIONS_CXX_RELEASE}" STREQUAL "")
    list(APPEND nigh_COMPILE_OPTIONS_RELEASE
        "$<$<COMPILE_LANGUAGE:CXX>:${nigh_COMPILE_OPTIONS_CXX_RELEASE}>")
endif ()
if (NOT "${nigh_COMPILE_OPTIONS_C_RELEASE}" STREQUAL "")
    list(APPEND nigh_COMPILE_OPTIONS_RELEASE
        "$<$<COMPILE_LANGUAGE:C>:${nigh_COMPILE_OPTIONS_C_RELEASE}>")
endif ()
set(nigh_LINKER_FLAGS_RELEASE)
if (NOT "${nigh_SHARED_LINK_FLAGS_RELEASE}" STREQUAL "")
    list(APPEND nigh_LINKER_FLAGS_RELEASE
        "$<$<OR:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,SHARED_LIBRARY>,$<STREQUAL:$<TARGET_PROPERTY:TYPE>,MODULE_LIBRARY>>:${nigh_SHARED_LINK_FLAGS_RELEASE}>")
endif ()
if (NOT "${nigh_EXE_LINK_FLAGS_RELEASE}" STREQUAL "")
    list(APPEND nigh_LINKER_FLAGS_RELEASE
        "$<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:${nigh_EXE_LINK_FLAGS_RELEASE}>")
endif ()


set(nigh_COMPONENTS_RELEASE )