#pragma once
// Prints long JSON arrays on several threads. Each thread prints neighbouring elements to its own
// text. The texts are joined in order, so the result is as if one thread had printed it.

#include <cstddef>
#include <functional>

#include "http/wire/json_writer.h"
#include "query/request/side_by_side.h"

namespace hg::http {

/// The threads that may print parts of a JSON document.
struct Printers {
  size_t threads = 1;          // includes the calling thread
  query::SideBySide run = {};  // empty: only the calling thread prints
};

/// The elements of an array whose begin was already written, and how to print them.
struct ElementPrinting {
  size_t count = 0;
  /// Returns the number of points of an element.
  std::function<size_t(size_t element)> points;
  /// Prints the elements [begin, end) and checks json->alive() from time to time. Several threads
  /// call this function concurrently.
  std::function<void(size_t begin, size_t end, JsonWriter* json)> print;
};

/// Prints all elements. Returns early if the client has disconnected. Each thread keeps less than a
/// megabyte of text until earlier text is written; long elements are streamed.
void PrintElements(const ElementPrinting& elements, const Printers& printers, JsonWriter* json);

}  // namespace hg::http
