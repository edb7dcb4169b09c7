#pragma once
// Prints long JSON arrays on several threads. Each thread prints neighbouring elements to a text of
// its own. The texts are joined in order, so the result is the same as if one thread had printed
// the array.

#include <cstddef>
#include <functional>

#include "http/wire/json_writer.h"
#include "query/request/side_by_side.h"

namespace hg::http {

/// The threads that may print parts of a JSON document.
struct Printers {
  size_t threads = 1;          // number of threads, including the calling thread
  query::SideBySide run = {};  // runs tasks on the threads; empty: only the calling thread prints
};

/// The elements of an array, and the functions that print them. The caller has already written the
/// start of the array.
struct ElementPrinting {
  size_t count = 0;
  /// Returns the number of points in an element of the array.
  std::function<size_t(size_t element)> points;
  /// Prints the elements [begin, end), and checks json->alive() from time to time. Several threads
  /// call this function at the same time.
  std::function<void(size_t begin, size_t end, JsonWriter* json)> print;
};

/// Prints all elements. Returns early if the client has disconnected. Each thread stores less than
/// a megabyte of text while it waits until the text of earlier elements is written. Longer elements
/// are streamed.
void PrintElements(const ElementPrinting& elements, const Printers& printers, JsonWriter* json);

}  // namespace hg::http
