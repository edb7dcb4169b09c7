# hourglass_page(source.cc FILES a.html b.js SENT_BY c.cc): a source with the files of the page in it (http/page/files.h), so that
# the program needs none beside it; c.cc says the headers that they are sent with. The packages the page is drawn with are
# fetched by setup/page when CMake configures, once for each content of package-lock.json; then their files stand in
# ${HOURGLASS_PAGE_PACKAGES}. All build folders share them: where they were removed, the next build of each configures again.
set(HOURGLASS_PAGE_PACKAGES ${PROJECT_SOURCE_DIR}/build/page/node_modules)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
  CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/http/page/package-lock.json ${PROJECT_SOURCE_DIR}/setup/page)
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/setup/page ${PROJECT_SOURCE_DIR}/build/page RESULT_VARIABLE page_fetched)
if(NOT page_fetched EQUAL 0)
  message(FATAL_ERROR "setup/page did not fetch the packages of http/page; it says why above")
endif()

function(hourglass_page source)
  cmake_parse_arguments(ARG "" "SENT_BY" "FILES" ${ARGN})
  set(sent_by ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_SENT_BY})
  list(TRANSFORM ARG_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  foreach(file IN LISTS ARG_FILES)
    cmake_path(IS_PREFIX HOURGLASS_PAGE_PACKAGES ${file} is_fetched)
    if(is_fetched)
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    endif()
  endforeach()
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${source}" "-DFILES=${ARG_FILES}" -DSENT_BY=${sent_by}
      -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${ARG_FILES} ${sent_by} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    VERBATIM COMMENT "Embedding the page")
endfunction()
