#pragma once
// The files of the web page, embedded when the program is built (cmake/embed_page.cmake writes the
// source). The program needs no directory of page files.

#include <span>
#include <string_view>

namespace hg::http::page {

struct File {
  std::string_view name;  // "main.js": without directories
  std::string_view bytes;
};

/// All files, for the life of the process.
std::span<const File> Files();

/// A hash of the contents of all files, in hexadecimal. index.html requests the files as
/// /s/page-<sum>/<name>.
std::string_view FilesSum();

}  // namespace hg::http::page
