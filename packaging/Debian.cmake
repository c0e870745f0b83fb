# `cpack -G DEB` in the build folder: one package of what `cmake --install` puts there.
set(CPACK_PACKAGE_NAME warpwatch)
set(CPACK_PACKAGE_VENDOR warpwatch)
set(CPACK_PACKAGE_CONTACT "warpwatch authors <authors@warpwatch.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "watches every CUDA kernel launch and says which waste the GPU")
set(CPACK_PACKAGE_DESCRIPTION
"A small library, preloaded into an unmodified program, counts each kernel
launch, CUDA graph replays included. The command merges what processes and
ranks wrote and judges every launch configuration on its device: too few
blocks, tails of half-empty waves, idle lanes, what limits occupancy.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_PRE_BUILD_SCRIPTS ${CMAKE_CURRENT_SOURCE_DIR}/private_libraries.cmake)
set(CPACK_COMPONENTS_ALL warpwatch)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_OUTPUT_FILE_PREFIX ${CMAKE_BINARY_DIR}/packages)

# What Debian wants beside every package.
set(documents ${CMAKE_CURRENT_BINARY_DIR}/documents)
file(CONFIGURE OUTPUT ${documents}/changelog CONTENT
"warpwatch (${PROJECT_VERSION}) unstable; urgency=medium

  * What changed is in the repository's history.

 -- ${CPACK_PACKAGE_CONTACT}  Thu, 01 Jan 2026 00:00:00 +0000
")
execute_process(COMMAND gzip -9nf ${documents}/changelog)
install(FILES ${documents}/changelog.gz DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/warpwatch COMPONENT warpwatch)
install(FILES copyright DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/warpwatch COMPONENT warpwatch)
include(CPack)
