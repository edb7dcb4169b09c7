#include "http/wire/otlp_body.h"

#include <otlp.pb.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "http/wire/otlp_attribute.h"
#include "http/wire/protobuf_message.h"
#include "http/wire/protobuf_wire.h"

namespace hg::http {
namespace {

using protobuf_wire::IsText;
using protobuf_wire::kFixed64;
using protobuf_wire::kSized;
using protobuf_wire::kVarint;
using protobuf_wire::SkipField;
using protobuf_wire::Tag;
using protobuf_wire::TakeFixed64;
using protobuf_wire::TakeSized;
using protobuf_wire::TakeTag;
using protobuf_wire::TakeVarint;

// Tags of the fields that this parser reads, in the order of the messages in the protocol.
constexpr uint8_t kResourceMetrics = Tag(1, kSized);
constexpr uint8_t kResource = Tag(1, kSized), kScopeMetrics = Tag(2, kSized);
constexpr uint8_t kScope = Tag(1, kSized), kMetric = Tag(2, kSized);
constexpr uint8_t kName = Tag(1, kSized), kGauge = Tag(5, kSized), kSum = Tag(7, kSized);
constexpr uint8_t kHistogram = Tag(9, kSized), kExponentialHistogram = Tag(10, kSized);
constexpr uint8_t kSummary = Tag(11, kSized);
constexpr uint8_t kDataPoint = Tag(1, kSized), kTemporality = Tag(2, kVarint);
constexpr uint8_t kTime = Tag(3, kFixed64), kAsDouble = Tag(4, kFixed64), kAsInt = Tag(6, kFixed64);
constexpr uint8_t kAttribute = Tag(7, kSized), kFlags = Tag(8, kVarint);
constexpr uint8_t kKey = Tag(1, kSized), kValue = Tag(2, kSized);
constexpr uint8_t kText = Tag(1, kSized), kBool = Tag(2, kVarint), kInt = Tag(3, kVarint);
constexpr uint8_t kDouble = Tag(4, kFixed64);

/// Returns the nesting depth of a piece in the body.
int DepthOf(OtlpBody::Piece::Kind kind) { return kind == OtlpBody::Piece::Kind::kResource ? 2 : 3; }

}  // namespace

bool OtlpBody::ParsePiece(Piece::Kind kind, std::string_view bytes,
                          google::protobuf::MessageLite* message) {
  return ParseMessage(bytes, message, DepthOf(kind));
}

template <typename Message>
bool OtlpBody::CheckPiece(Piece::Kind kind, std::string_view bytes) {
  Message message;
  return ParseMessage(bytes, &message, DepthOf(kind), &message_room_);
}

bool OtlpBody::Read(std::string_view body) {
  pieces_.clear();
  numbers_.clear();
  attributes_.clear();
  labels_.clear();
  texts_.clear();
  uint8_t tag = 0;
  std::string_view bytes;
  while (!body.empty()) {
    if (!TakeTag(&body, &tag)) return false;
    if (tag != kResourceMetrics) {
      if (!SkipField(tag, &body)) return false;
    } else if (!TakeSized(&body, &bytes) || !ReadResourceMetrics(bytes)) {
      return false;
    }
  }
  return true;
}

bool OtlpBody::ReadResourceMetrics(std::string_view bytes) {
  bool has_resource = false, has_scopes = false;
  resource_ = {};
  resource_told_ = false;
  uint8_t tag = 0;
  std::string_view part;
  while (!bytes.empty()) {
    if (!TakeTag(&bytes, &tag)) return false;
    if (tag == kScopeMetrics) {
      has_scopes = true;
      if (!TakeSized(&bytes, &part) || !ReadScopeMetrics(part)) return false;
    } else if (tag == kResource) {
      if (has_resource || has_scopes || !TakeSized(&bytes, &resource_)) return false;
      has_resource = true;
      if (!CheckPiece<otlp::Resource>(Piece::Kind::kResource, resource_)) return false;
    } else if (!SkipField(tag, &bytes)) {
      return false;
    }
  }
  return true;
}

bool OtlpBody::ReadScopeMetrics(std::string_view bytes) {
  bool has_scope = false, has_metrics = false;
  scope_ = {};
  scope_told_ = false;
  uint8_t tag = 0;
  std::string_view part;
  while (!bytes.empty()) {
    if (!TakeTag(&bytes, &tag)) return false;
    if (tag == kMetric) {
      has_metrics = true;
      if (!TakeSized(&bytes, &part) || !ReadMetric(part)) return false;
    } else if (tag == kScope) {
      if (has_scope || has_metrics || !TakeSized(&bytes, &scope_)) return false;
      has_scope = true;
      if (!CheckPiece<otlp::InstrumentationScope>(Piece::Kind::kScope, scope_)) return false;
    } else if (!SkipField(tag, &bytes)) {
      return false;
    }
  }
  return true;
}

bool OtlpBody::AddPiece(Piece::Kind kind, std::string_view bytes) {
  const auto add = [this](const Piece& piece) {
    if (!MakeRoom(&pieces_, &pieces_room_)) return false;
    pieces_.push_back(piece);
    return true;
  };
  if (!resource_told_ && !add({.kind = Piece::Kind::kResource, .bytes = resource_})) return false;
  if (!scope_told_ && !add({.kind = Piece::Kind::kScope, .bytes = scope_})) return false;
  resource_told_ = scope_told_ = true;
  return add({.kind = kind, .bytes = bytes});
}

template <typename T>
bool OtlpBody::MakeRoom(std::vector<T>* list, RequestMemory::Room* room) {
  constexpr size_t kFirst = 16;
  if (list->size() < list->capacity()) return true;
  const size_t more = std::max(kFirst, 2 * list->capacity());
  if (!room->Grow(more * sizeof(T)).ok()) return false;
  list->reserve(more);
  return true;
}

bool OtlpBody::ReadMetric(std::string_view bytes) {
  if (bytes.empty()) return true;
  std::string_view name, data;
  int names = 0, gauges = 0, sums = 0, others = 0;
  for (std::string_view rest = bytes; !rest.empty();) {
    uint8_t tag = 0;
    if (!TakeTag(&rest, &tag)) return false;
    switch (tag) {
      case kName:
        ++names;
        if (!TakeSized(&rest, &name)) return false;
        break;
      case kGauge:
      case kSum:
        ++(tag == kGauge ? gauges : sums);
        if (!TakeSized(&rest, &data)) return false;
        break;
      case kHistogram:
      case kExponentialHistogram:
      case kSummary:
        ++others;
        [[fallthrough]];
      default:
        if (!SkipField(tag, &rest)) return false;
    }
  }
  const size_t before = numbers_.size();
  if (names == 1 && !name.empty() && IsText(name) && gauges + sums == 1 && others == 0 &&
      ReadNumbers(data, sums == 1)) {
    if (numbers_.size() == before) return true;
    if (!AddPiece(Piece::Kind::kNumbers, bytes)) return false;
    pieces_.back().name = name;
    pieces_.back().first = before;
    pieces_.back().count = numbers_.size() - before;
    return true;
  }
  numbers_.resize(before);
  return CheckPiece<otlp::Metric>(Piece::Kind::kMetric, bytes) &&
         AddPiece(Piece::Kind::kMetric, bytes);
}

bool OtlpBody::ReadNumbers(std::string_view bytes, bool sum) {
  bool known_temporality = !sum;
  uint8_t tag = 0;
  std::string_view point;
  while (!bytes.empty()) {
    if (!TakeTag(&bytes, &tag)) return false;
    if (tag == kDataPoint) {
      if (!TakeSized(&bytes, &point) || !ReadNumber(point)) return false;
    } else if (sum && tag == kTemporality) {
      uint64_t temporality = 0;
      if (known_temporality || !TakeVarint(&bytes, &temporality)) return false;
      known_temporality = temporality == otlp::AGGREGATION_TEMPORALITY_DELTA ||
                          temporality == otlp::AGGREGATION_TEMPORALITY_CUMULATIVE;
      if (!known_temporality) return false;
    } else if (!SkipField(tag, &bytes)) {
      return false;
    }
  }
  return known_temporality;
}

bool OtlpBody::ReadNumber(std::string_view bytes) {
  bool has_time = false, has_value = false, has_attributes = false, has_flags = false;
  uint64_t bits = 0;
  Number number;
  while (!bytes.empty()) {
    uint8_t tag = 0;
    const std::string_view field = bytes;
    if (!TakeTag(&bytes, &tag)) return false;
    switch (tag) {
      case kTime:
        if (std::exchange(has_time, true) || !TakeFixed64(&bytes, &bits)) return false;
        number.time_ms = static_cast<int64_t>(bits / kNsPerMs);
        break;
      case kAsDouble:
      case kAsInt:
        if (std::exchange(has_value, true) || !TakeFixed64(&bytes, &bits)) return false;
        number.value = tag == kAsDouble ? PointValue::Double(std::bit_cast<double>(bits))
                                        : PointValue::Int(static_cast<int64_t>(bits));
        break;
      case kAttribute:
        bytes = field;
        if (std::exchange(has_attributes, true) || !TakeAttributes(&bytes, &number.attributes))
          return false;
        break;
      case kFlags:
        // A set flag may mean that the point has no value, so protobuf must parse the message.
        if (std::exchange(has_flags, true) || !TakeVarint(&bytes, &bits) || bits != 0) return false;
        break;
      default:
        if (!SkipField(tag, &bytes)) return false;
    }
  }
  if (!has_time || !has_value) return false;
  if (!has_attributes) {
    if (attributes_.empty() || !attributes_.back().raw.empty()) {
      if (!MakeRoom(&attributes_, &attributes_room_)) return false;
      attributes_.push_back({.first = labels_.size()});
    }
    number.attributes = static_cast<uint32_t>(attributes_.size() - 1);
  }
  if (!MakeRoom(&numbers_, &numbers_room_)) return false;
  numbers_.push_back(number);
  return true;
}

bool OtlpBody::TakeAttributes(std::string_view* rest, uint32_t* attributes) {
  // Consecutive points often have the same attributes, so these are compared first.
  if (!attributes_.empty() && !attributes_.back().raw.empty()) {
    const std::string_view last = attributes_.back().raw;
    if (rest->starts_with(last) &&
        (rest->size() == last.size() || static_cast<uint8_t>((*rest)[last.size()]) != kAttribute)) {
      rest->remove_prefix(last.size());
      *attributes = static_cast<uint32_t>(attributes_.size() - 1);
      return true;
    }
  }
  const std::string_view all = *rest;
  Attributes made{.first = labels_.size()};
  std::string_view attribute;
  while (!rest->empty() && static_cast<uint8_t>(rest->front()) == kAttribute) {
    rest->remove_prefix(1);
    if (!TakeSized(rest, &attribute) || !ReadAttribute(attribute, &made)) return false;
  }
  made.raw = all.substr(0, all.size() - rest->size());
  SortLabels(&made);
  *attributes = static_cast<uint32_t>(attributes_.size());
  if (!MakeRoom(&attributes_, &attributes_room_)) return false;
  attributes_.push_back(made);
  return true;
}

bool OtlpBody::ReadAttribute(std::string_view bytes, Attributes* attributes) {
  uint8_t tag = 0;
  Label label;
  std::string_view value;
  if (bytes.empty() || !TakeTag(&bytes, &tag) || tag != kKey || !TakeSized(&bytes, &label.name) ||
      !IsText(label.name)) {
    return false;
  }
  if (bytes.empty() || !TakeTag(&bytes, &tag) || tag != kValue || !TakeSized(&bytes, &value) ||
      !bytes.empty()) {
    return false;
  }
  if (value.empty() || !TakeTag(&value, &tag)) return false;
  uint64_t bits = 0;
  if (tag == kText) {
    if (!TakeSized(&value, &label.value) || !IsText(label.value)) return false;
  } else if (tag == kBool) {
    if (!TakeVarint(&value, &bits)) return false;
    label.value = bits != 0 ? "true" : "false";
  } else if (!texts_room_.Grow(std::bit_ceil(texts_.size() + 1) * sizeof(std::string)).ok()) {
    return false;
  } else if (tag == kInt) {
    if (!TakeVarint(&value, &bits)) return false;
    label.value = texts_.emplace_back(std::to_string(static_cast<int64_t>(bits)));
  } else if (tag == kDouble) {
    if (!TakeFixed64(&value, &bits)) return false;
    label.value = texts_.emplace_back(NumberText(std::bit_cast<double>(bits)));
  } else {
    return false;
  }
  if (!value.empty()) return false;
  attributes->bytes += label.name.size() + label.value.size();
  if (!MakeRoom(&labels_, &labels_room_)) return false;
  labels_.push_back(label);
  return true;
}

// Sorts the labels by name. If a name occurs several times, the last one stays.
void OtlpBody::SortLabels(Attributes* attributes) {
  const auto begin = labels_.begin() + static_cast<ptrdiff_t>(attributes->first);
  const auto in_order = [](const Label& a, const Label& b) { return a.name < b.name; };
  const auto falls = [](const Label& a, const Label& b) { return a.name >= b.name; };
  if (std::adjacent_find(begin, labels_.end(), falls) != labels_.end()) {
    std::stable_sort(begin, labels_.end(), in_order);
    auto kept = begin;
    for (auto at = begin; at != labels_.end(); ++at) {
      if (kept != begin && (kept - 1)->name == at->name) --kept;
      *kept++ = *at;
    }
    labels_.erase(kept, labels_.end());
  }
  attributes->count = labels_.size() - attributes->first;
}

}  // namespace hg::http
