# hourglass_library(NAME SOURCES a.cc b.cc LINKS other libs)
#   One library per folder, sources written out. Beside it NAME_links_alone: an empty program that links the
#   whole library and only what it declares, so that an upward or forgotten dependency fails to link.
function(hourglass_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  hourglass_sources(sources ${name} ${ARG_SOURCES})
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} Threads::Threads)
  add_executable(${name}_links_alone ${PROJECT_SOURCE_DIR}/cmake/empty_main.cc)
  target_link_libraries(${name}_links_alone PRIVATE
    -Wl,--whole-archive ${name} -Wl,--no-whole-archive)
endfunction()

# hourglass_test_support(NAME SOURCES a.cc LINKS libs): what several tests share. Does not link alone: doctest's own
# part comes with the test program.
function(hourglass_test_support name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  hourglass_sources(sources ${name} ${ARG_SOURCES})
  add_library(${name} STATIC ${sources})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} Threads::Threads)
endfunction()

# hourglass_test(NAME SOURCES a_test.cc LINKS libs): one doctest program, registered with ctest. doctest's main function is
# compiled once for all of them.
function(hourglass_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINKS" ${ARGN})
  if(NOT TARGET doctest_main)
    add_library(doctest_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/doctest_main.cc)
  endif()
  hourglass_sources(sources ${name} ${ARG_SOURCES})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE doctest_main ${ARG_LINKS})
  add_test(NAME ${name} COMMAND ${name})
endfunction()
