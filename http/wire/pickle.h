#pragma once
// Parses Graphite's pickle protocol: a list [(path, (time, value)), …] as Python's pickle module
// writes it. The parser supports lists, tuples, texts and numbers of the pickle protocols 0 to 4.
// It rejects pickles that look up names, create objects or call functions, and never executes
// anything.

#include <memory>
#include <optional>
#include <string_view>

#include "http/wire/graphite_line.h"

namespace hg::http {

/// The maximum total length of the paths and other texts of all points, as a multiple of the length
/// of the pickle. Several points may share a text. A shared text is parsed, and counted, once for
/// each of these points.
inline constexpr size_t kPickleTextsMax = 32;

/// The points of a pickle.
class PickledPoints {
 public:
  /// Parses a pickle. The bytes of the pickle must outlive the object. `now` is the time of points
  /// without a time. InvalidArgument: the parser does not support a part of the pickle (the message
  /// contains its position), or the texts are longer than kPickleTextsMax allows.
  static Result<PickledPoints> Parse(std::string_view pickle, Timestamp now);
  PickledPoints(PickledPoints&&) noexcept;
  PickledPoints& operator=(PickledPoints&&) noexcept;
  ~PickledPoints();

  /// Returns the next element of the pickle: a point, or the error of an invalid element. Returns
  /// nullopt after the last element. The bytes of a point are valid while this object exists.
  /// The path of a point is not too long, but may be invalid in other ways.
  std::optional<Result<GraphitePoint>> Next();

 private:
  struct Parsed;
  explicit PickledPoints(std::unique_ptr<Parsed> parsed);

  std::unique_ptr<Parsed> parsed_;
};

}  // namespace hg::http
