#pragma once
// Prints long JSON arrays on several threads. Each thread prints neighbouring elements into its own
// text; the texts are joined in order, as if one thread had printed them.

#include <cstddef>
#include <functional>

#include "http/wire/json_writer.h"
#include "query/request/side_by_side.h"

namespace hg::http {

/// The threads that may print parts of a JSON document.
struct Printers {
  size_t threads = 1;          // including the caller's own
  query::SideBySide run = {};  // empty: only the caller's thread prints
};

/// Describes the elements of an array that is open in a document.
struct ElementPrinting {
  size_t count = 0;
  /// The size of an element, in points.
  std::function<size_t(size_t element)> points;
  /// Prints the elements [begin, end) and checks json->alive() from time to time. Called on several
  /// threads concurrently.
  std::function<void(size_t begin, size_t end, JsonWriter* json)> print;
};

/// Prints all elements. Returns early when the client is gone. Each thread keeps less than a
/// megabyte of text that waits for earlier text to be written; long elements are streamed.
void PrintElements(const ElementPrinting& elements, const Printers& printers, JsonWriter* json);

}  // namespace hg::http
