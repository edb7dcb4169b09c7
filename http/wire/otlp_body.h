#pragma once
// Parses the protobuf body of an OTLP request in place. Almost all bodies consist mainly of points
// of gauges and sums, whose values are numbers and whose attributes are texts and numbers. The
// parser reads these points without creating a protobuf object for each. Protobuf parses the other
// metrics, one message at a time. If Read returns false, the caller lets protobuf parse the whole
// body, with the same result.

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

/// One thread at a time. Borrows the body of the last Read.
class OtlpBody {
 public:
  /// `memory` must outlive the object. nullptr: nothing is charged.
  explicit OtlpBody(RequestMemory::Share* memory)
      : message_room_(memory),
        pieces_room_(memory),
        numbers_room_(memory),
        attributes_room_(memory),
        labels_room_(memory),
        texts_room_(memory) {}

  /// The attributes of a number, converted to labels: sorted by name, without duplicates.
  struct Attributes {
    std::string_view raw = {};  // encoded bytes in the body
    size_t first = 0, count = 0;
    size_t bytes = 0;  // size of all names and values, including duplicates that were replaced
  };
  struct Number {
    uint32_t attributes = 0;
    int64_t time_ms = 0;
    PointValue value;
  };
  /// A message of the body, in document order. A resource applies to the scopes that follow it, and
  /// a scope applies to the metrics that follow it. Resources and scopes without metrics are left
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
    // The following members are set for kNumbers only.
    std::string_view name = {};
    size_t first = 0, count = 0;
  };

  /// Finds the pieces of the body. Returns true only if protobuf would accept the whole body, too.
  /// Returns false if the body is not regular, is not a valid request, or its memory was refused.
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

  /// Parses a piece with protobuf. The messages that enclose the piece count towards the nesting
  /// limit. Returns false if the bytes are invalid. Read has already charged the memory of the
  /// largest piece, so only one parsed piece may exist at a time.
  static bool ParsePiece(Piece::Kind kind, std::string_view bytes,
                         google::protobuf::MessageLite* message);

 private:
  bool ReadResourceMetrics(std::string_view bytes);
  bool ReadScopeMetrics(std::string_view bytes);
  bool ReadMetric(std::string_view bytes);
  /// Reads the points of a gauge or sum and appends them to numbers_. Returns false if it contains
  /// anything other than numbers.
  bool ReadNumbers(std::string_view bytes, bool sum);
  bool ReadNumber(std::string_view bytes);
  /// Reads consecutive attributes of a number, and stops at the first field of another kind.
  bool TakeAttributes(std::string_view* rest, uint32_t* attributes);
  bool ReadAttribute(std::string_view bytes, Attributes* attributes);
  void SortLabels(Attributes* attributes);
  /// Checks whether protobuf accepts the piece, and charges its memory.
  template <typename Message>
  bool CheckPiece(Piece::Kind kind, std::string_view bytes);
  bool AddPiece(Piece::Kind kind, std::string_view bytes);
  /// Charges memory for one more element of a list. Call it before appending.
  template <typename T>
  static bool MakeRoom(std::vector<T>* list, RequestMemory::Room* room);

  RequestMemory::Room message_room_;  // memory of the largest message that protobuf has to parse
  RequestMemory::Room pieces_room_, numbers_room_, attributes_room_, labels_room_, texts_room_;
  std::vector<Piece> pieces_;
  std::vector<Number> numbers_;
  std::vector<Attributes> attributes_;
  std::vector<Label> labels_;
  std::deque<std::string> texts_;  // label values that are not texts in the body
  // The current resource and scope. They are added to the pieces when a metric follows.
  std::string_view resource_, scope_;
  bool resource_told_ = false, scope_told_ = false;
};

}  // namespace hg::http
