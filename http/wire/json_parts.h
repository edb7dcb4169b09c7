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

/// A thread prints neighbouring elements to one text until these elements may take kPartBytes or
/// more. An element that may take kStreamedBytes or more is not buffered: the calling thread
/// streams it. So each text has less than kPartBytes + kStreamedBytes bytes.
inline constexpr size_t kPartBytes = 128 * 1024;
inline constexpr size_t kStreamedBytes = 768 * 1024;
/// Maximum number of texts that are in memory until the client has taken the texts before them. The
/// maximum does not depend on the number of threads. So the texts of an array have less than 14 MiB
/// together. The capacity of their buffers is at most twice as large.
inline constexpr size_t kWaitingPartsMax = 16;

/// The elements of an array, and the functions that print them. The caller has already written the
/// start of the array.
struct ElementPrinting {
  size_t count = 0;
  /// Returns an upper bound of the number of bytes that `print` writes for an element. The bound
  /// must include the escapes of texts, and the comma after the element.
  std::function<size_t(size_t element)> bytes_max;
  /// Prints the elements [begin, end), and checks json->alive() from time to time, also within a
  /// long element. Several threads call this function at the same time.
  std::function<void(size_t begin, size_t end, JsonWriter* json)> print;
};

/// Prints all elements. Returns early if the client has disconnected. If the array is short, or if
/// there is only one thread, the calling thread streams all elements to `json`.
void PrintElements(const ElementPrinting& elements, const Printers& printers, JsonWriter* json);

}  // namespace hg::http
