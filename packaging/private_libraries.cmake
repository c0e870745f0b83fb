# In the Debian package the libraries are the command's own: nothing links with them, the loader's directories are not
# for them.
file(GLOB_RECURSE libraries ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/libwarpwatch*.so)
foreach(library ${libraries})
  get_filename_component(directory ${library} DIRECTORY)
  get_filename_component(name ${library} NAME)
  file(MAKE_DIRECTORY ${directory}/warpwatch)
  file(RENAME ${library} ${directory}/warpwatch/${name})
endforeach()
