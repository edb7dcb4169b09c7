#pragma once
// The page's files as they were when the program was built (cmake/embed_page.cmake writes the
// source): it needs no folder beside it to show them.

#include <span>
#include <string_view>

namespace hg::http::page {

struct File {
  std::string_view name;  // "main.js": folders are left out
  std::string_view bytes;
};

/// All of them, for the life of the process.
std::span<const File> Files();

/// Hexadecimal digits; another text for each content of the files. They are asked for as
/// /s/page-<sum>/<name>, which index.html does.
std::string_view FilesSum();

}  // namespace hg::http::page
