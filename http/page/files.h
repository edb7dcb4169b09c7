#pragma once
// The files of the web page. They are embedded in the program when it is built
// (cmake/embed_page.cmake writes the source), so the program needs no directory with these files.

#include <span>
#include <string_view>

namespace hg::http::page {

struct File {
  std::string_view name;  // name of the file without directories, for example "main.js"
  std::string_view bytes;
};

/// Returns all files of the web page. The result is valid as long as the process runs.
std::span<const File> Files();

/// Returns a hash in hexadecimal, which changes with the contents of the files. index.html requests
/// each file with the path /s/page-<sum>/<name>, in which <sum> is this hash.
std::string_view FilesSum();

}  // namespace hg::http::page
