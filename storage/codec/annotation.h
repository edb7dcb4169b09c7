#pragma once
// Annotations are JSON objects in the data table. They are stored next to the points of their
// series, or in separate rows (opentsdb-schema.md §11; OpenTSDB class Annotation).

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::codec {

/// Compares texts as Java compares its strings. Stored custom fields of annotations are in this
/// order.
struct JavaOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};

struct Annotation {
  using Custom = std::map<std::string, std::string, JavaOrder>;

  std::string tsuid;        // TSUID in hexadecimal digits as the client wrote it; empty = global
  int64_t start_time = 0;   // seconds or milliseconds, as the client wrote it
  int64_t end_time = 0;     // 0 = the annotation has no end
  std::string description;  // UTF-8, like `notes` and `custom`
  std::string notes;
  std::optional<Custom> custom;  // nullopt = null in JSON

  bool operator==(const Annotation&) const = default;
};

/// The place where an annotation is stored: the base time of its row, and its qualifier.
struct AnnotationPlace {
  uint32_t base = 0;
  Bytes qualifier;  // 01 ‖ u16 seconds, or 01 ‖ u32 milliseconds
};

/// Returns the place of an annotation with a start time ≥ 1. A start time divisible by 1000 is
/// divided by 1000 before its offset is computed, even if the start time is in seconds. For a time
/// in seconds the offset is then wrong, but all readers compute the offset in the same way
/// (opentsdb-schema.md §11.1). The base time is computed before that division.
AnnotationPlace PlaceAnnotation(int64_t start_time);

/// Returns the milliseconds from the row base that the qualifier (3 or 5 bytes) of an annotation or
/// histogram encodes.
uint32_t ObjectOffsetMs(ByteView qualifier);

/// Returns the JSON to store, with a fixed order of fields and without spaces. All writers of
/// annotations must produce exactly this JSON (opentsdb-schema.md §11.2).
std::string EncodeAnnotation(const Annotation& annotation);

/// Parses the stored JSON of an annotation. Unknown fields are ignored, and a null string becomes
/// empty. Returns Corruption if the text is not a JSON object, or if a field has an unexpected
/// type.
Result<Annotation> DecodeAnnotation(ByteView json);

/// Returns whether the request contains more than the identity of the annotation. If it contains
/// only the identity, there is nothing to change (opentsdb-schema.md §11.2).
bool HasAnnotationChanges(const Annotation& request);

/// Returns the annotation to store. If `replace` is false (create and modify), fields that the
/// request leaves at their defaults keep their stored values. If `replace` is true, all fields come
/// from the request. In both cases the start time is the smaller positive start time of `request`
/// and `stored`.
Annotation MergeAnnotation(const Annotation& request, const Annotation& stored, bool replace);

}  // namespace hg::codec
