#pragma once
// Parses the protobuf body of an OTLP request in place. Almost all bodies consist mainly of points
// of gauges and sums, whose values are numbers and whose attributes are texts and numbers. The
// parser reads these points without creating protobuf objects. Protobuf parses the other metrics,
// one message at a time. If Read returns false, the caller lets protobuf parse the whole body, with
// the same result.

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/request_memory.h"
#include "http/wire/series_labels.h"
#include "storage/model/point.h"

namespace google::protobuf {
class MessageLite;
}

namespace hg::http {

inline constexpr uint64_t kNsPerMs = 1'000'000;

/// Use on one thread at a time. Refers to the bytes of the body in the last call of Read.
class OtlpBody {
 public:
  /// `memory` must outlive the object. If it is nullptr, nothing is charged.
  explicit OtlpBody(RequestMemory::Share* memory)
      : message_room_(memory),
        pieces_room_(memory),
        numbers_room_(memory),
        attributes_room_(memory),
        labels_room_(memory),
        texts_room_(memory) {}

  /// The attributes of a number as labels: sorted by name, without duplicates.
  struct Attributes {
    std::string_view raw = {};  // the encoded bytes in the body
    size_t first = 0, count = 0;
    size_t bytes = 0;  // size of all names and values, even of duplicates that were dropped
  };
  struct Number {
    uint32_t attributes = 0;
    int64_t time_ms = 0;
    PointValue value;
  };
  /// A message of the body, in document order. A resource belongs to the scopes that follow it, and
  /// a scope belongs to the metrics that follow it. Resources and scopes without metrics are left
  /// out.
  struct Piece {
    enum class Kind : uint8_t {
      kResource,
      kScope,
      kNumbers,  // a metric whose points are all numbers to store
      kMetric,   // any other metric
    };
    Kind kind;
    std::string_view bytes;
    // The following members are set only for kNumbers.
    std::string_view name = {};
    size_t first = 0, count = 0;
  };

  /// Finds the pieces of the body. Returns true only if protobuf would also accept the whole body.
  /// Returns false if the body is irregular or invalid, or if there is no memory for it.
  bool Read(std::string_view body);

  [[nodiscard]] std::span<const Piece> pieces() const { return pieces_; }
  [[nodiscard]] std::span<const Number> Numbers(const Piece& piece) const {
    return std::span(numbers_).subspan(piece.first, piece.count);
  }
  [[nodiscard]] const Attributes& AttributesOf(const Number& number) const {
    return attributes_[number.attributes];
  }
  [[nodiscard]] std::span<const Label> Labels(const Attributes& of) const {
    return std::span(labels_).subspan(of.first, of.count);
  }

  /// Parses a piece with protobuf. The messages that contain the piece count towards the nesting
  /// limit. Returns false if the bytes are invalid. Read has already charged the memory of the
  /// largest piece, so only one parsed piece may exist at a time.
  static bool ParsePiece(Piece::Kind kind, std::string_view bytes,
                         google::protobuf::MessageLite* message);

 private:
  bool ReadResourceMetrics(std::string_view bytes);
  bool ReadScopeMetrics(std::string_view bytes);
  bool ReadMetric(std::string_view bytes);
  /// Reads the points of a gauge or sum and appends them to numbers_. Returns false if the gauge or
  /// sum has anything other than numbers.
  bool ReadNumbers(std::string_view bytes, bool sum);
  bool ReadNumber(std::string_view bytes);
  /// Reads the consecutive attributes of a number, up to the first field of another kind.
  bool TakeAttributes(std::string_view* rest, uint32_t* attributes);
  bool ReadAttribute(std::string_view bytes, Attributes* attributes);
  void SortLabels(Attributes* attributes);
  /// Returns whether protobuf accepts the piece, and charges the memory of the piece.
  template <typename Message>
  bool CheckPiece(Piece::Kind kind, std::string_view bytes);
  bool AddPiece(Piece::Kind kind, std::string_view bytes);
  /// Charges memory for one more element of a list. Call this function before you append.
  template <typename T>
  static bool MakeRoom(std::vector<T>* list, RequestMemory::Room* room);

  RequestMemory::Room message_room_;  // memory of the largest message that protobuf has to parse
  RequestMemory::Room pieces_room_, numbers_room_, attributes_room_, labels_room_, texts_room_;
  std::vector<Piece> pieces_;
  std::vector<Number> numbers_;
  std::vector<Attributes> attributes_;
  std::vector<Label> labels_;
  std::deque<std::string> texts_;  // label values that are not texts in the body
  // The current resource and scope. When a metric follows, they are added to the pieces.
  std::string_view resource_, scope_;
  bool resource_told_ = false, scope_told_ = false;
};

}  // namespace hg::http
