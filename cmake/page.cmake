# hourglass_page(source.cc FILES a.html b.js): a source with the files of the page in it (http/page/files.h), so that the program needs none beside it. The packages the page is drawn with are fetched by setup/page when CMake
# configures, once for each content of package-lock.json; then their files stand in ${HOURGLASS_PAGE_PACKAGES}.
set(HOURGLASS_PAGE_PACKAGES ${PROJECT_SOURCE_DIR}/build/page/node_modules)
set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY
  CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/http/page/package-lock.json ${PROJECT_SOURCE_DIR}/setup/page)
execute_process(COMMAND ${PROJECT_SOURCE_DIR}/setup/page ${PROJECT_SOURCE_DIR}/build/page RESULT_VARIABLE page_fetched)
if(NOT page_fetched EQUAL 0)
  message(FATAL_ERROR "setup/page did not fetch the packages of http/page; it says why above")
endif()

function(hourglass_page source)
  cmake_parse_arguments(ARG "" "" "FILES" ${ARGN})
  list(TRANSFORM ARG_FILES PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/ REGEX "^[^/]")
  add_custom_command(OUTPUT ${source}
    COMMAND ${CMAKE_COMMAND} "-DOUTPUT=${source}" "-DFILES=${ARG_FILES}" -P ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    DEPENDS ${ARG_FILES} ${PROJECT_SOURCE_DIR}/cmake/embed_page.cmake
    VERBATIM COMMENT "Embedding the page")
endfunction()
