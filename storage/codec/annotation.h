#pragma once
// Annotations: JSON objects in the data table, beside the points of their series or in rows of
// their own (spec schema.md §11; OpenTSDB class Annotation).

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "storage/base/bytes.h"
#include "storage/base/status.h"

namespace hg::codec {

/// Order of Java's strings, in which stored custom fields ascend.
struct JavaOrder {
  bool operator()(const std::string& a, const std::string& b) const;
};

struct Annotation {
  using Custom = std::map<std::string, std::string, JavaOrder>;

  std::string tsuid;        // hexadecimal as the client wrote it; empty = global
  int64_t start_time = 0;   // seconds or milliseconds, as the client wrote it
  int64_t end_time = 0;     // 0 = open
  std::string description;  // UTF-8, as notes and custom
  std::string notes;
  std::optional<Custom> custom;  // none = null

  bool operator==(const Annotation&) const = default;
};

/// Where an annotation lives: its row's base time and its qualifier.
struct AnnotationPlace {
  uint32_t base = 0;
  Bytes qualifier;  // 01 ‖ u16 seconds, or 01 ‖ u32 milliseconds
};

/// Place of a start time ≥ 1. A start time divisible by 1000 is divided by it before its offset is
/// taken, also if it counts seconds: the offset is then wrong, but every reader by start time
/// agrees (§11.1). The base is taken before.
AnnotationPlace PlaceAnnotation(int64_t start_time);

/// Milliseconds from the row base of an object qualifier (annotation or histogram) of 3 or 5 bytes.
uint32_t ObjectOffsetMs(ByteView qualifier);

/// The stored JSON: fixed field order, no spaces. A foreign writer must emit exactly this (§11.2).
std::string EncodeAnnotation(const Annotation& annotation);

/// Reads stored JSON; unknown fields are passed over, null strings are empty. Corruption: not a
/// JSON object, or a field of another type.
Result<Annotation> DecodeAnnotation(ByteView json);

/// True if the request says anything besides which annotation it means; otherwise there is nothing
/// to change (§11.2).
bool HasAnnotationChanges(const Annotation& request);

/// What is stored after a request meets a stored annotation. Create and modify (`replace` false):
/// fields the request leaves at their defaults keep their stored values. Replace: the request's
/// fields. The smaller positive start time wins in both.
Annotation MergeAnnotation(const Annotation& request, const Annotation& stored, bool replace);

}  // namespace hg::codec
