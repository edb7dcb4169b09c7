#pragma once
// Long arrays printed by several threads: each prints a run of neighbouring elements into a text of
// its own, and the texts follow each other in the document as if one thread had printed it.

#include <cstddef>
#include <functional>

#include "http/wire/json_writer.h"
#include "query/side_by_side.h"

namespace hg::http {

/// Threads that may print.
struct Printers {
  size_t threads = 1;          // with the caller's own
  query::SideBySide run = {};  // empty: the caller's thread alone
};

/// The elements of an array that is open in a document.
struct ElementPrinting {
  size_t count = 0;
  /// How long an element is to print, in points.
  std::function<size_t(size_t element)> points;
  /// Prints the elements [begin, end), and looks at json->alive() now and then. Several threads at
  /// once.
  std::function<void(size_t begin, size_t end, JsonWriter* json)> print;
};

/// Prints all elements, or ends early when the client has gone. Texts that wait for their turn hold
/// less than a megabyte for each thread; elements that are long themselves are streamed.
void PrintElements(const ElementPrinting& elements, const Printers& printers, JsonWriter* json);

}  // namespace hg::http
