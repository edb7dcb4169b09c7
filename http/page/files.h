#pragma once
// The files of the web page, embedded when the program is built (cmake/embed_page.cmake writes the
// source). The program needs no directory of page files.

#include <span>
#include <string_view>

namespace hg::http::page {

struct File {
  std::string_view name;  // for example "main.js", without directories
  std::string_view bytes;
};

/// Returns all files. The result is valid as long as the process runs.
std::span<const File> Files();

/// Returns a hash of the contents of all files, in hexadecimal. index.html requests each file as
/// /s/page-<sum>/<name>.
std::string_view FilesSum();

}  // namespace hg::http::page
