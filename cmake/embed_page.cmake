# cmake -DOUTPUT=files.cc "-DFILES=a;b" -DSENT_BY=c.cc -P embed_page.cmake: writes http/page/files.h's table. A file is known by its
# name without folders; @page@ in the HTML becomes the folder under which the others are asked for. That has their sum in its
# name, and that of the source that says their headers, so that browsers may keep both for ever.
set(sums "")
foreach(file IN LISTS FILES SENT_BY)
  file(SHA256 ${file} sum)
  get_filename_component(name ${file} NAME)
  string(APPEND sums "${name} ${sum}\n")
endforeach()
string(SHA256 sum "${sums}")
string(SUBSTRING ${sum} 0 16 sum)

set(table "")
foreach(file IN LISTS FILES)
  get_filename_component(name ${file} NAME)
  # As hexadecimal digits: what CMake reads as text loses brackets and semicolons.
  file(READ ${file} digits HEX)
  if(name MATCHES "\\.html$")
    string(HEX "@page@" mark)
    string(HEX "s/page-${sum}" folder)
    string(REPLACE "${mark}" "${folder}" digits "${digits}")
  endif()
  string(LENGTH "${digits}" length)
  math(EXPR length "${length} / 2")
  string(REGEX REPLACE "(................................................................)" "\\1\"\n\"" lines "${digits}")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "\\\\x\\1" lines "${lines}")
  string(APPEND table "    {\"${name}\",\n     {\"${lines}\", ${length}}},\n")
endforeach()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [[
// Written by cmake/embed_page.cmake.
#include "http/page/files.h"

namespace hg::http::page {

std::string_view FilesSum() { return "@sum@"; }

std::span<const File> Files() {
  static constexpr File kFiles[] = {
@table@  };
  return kFiles;
}

}  // namespace hg::http::page
]])
