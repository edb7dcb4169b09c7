#pragma once
// Parses the protobuf body of an OTLP request in place. Almost all bodies consist mainly of numbers
// (points of gauges and sums) whose attributes are texts and numbers. These are read without
// creating an object each. Other metrics are left to protobuf, one message at a time. If Read
// returns false, callers let protobuf parse the whole body, with the same result.

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

  /// Attributes of numbers as labels: sorted by name, without duplicates.
  struct Attributes {
    std::string_view raw = {};  // encoded bytes in the body
    size_t first = 0, count = 0;
    size_t bytes = 0;  // bytes of all names and values, including replaced duplicates
  };
  struct Number {
    uint32_t attributes = 0;
    int64_t time_ms = 0;
    PointValue value;
  };
  /// A message of the body, in document order. A resource applies to the scopes that follow, a
  /// scope to the metrics that follow. Resources and scopes without metrics are left out.
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

  /// False: the body is not regular or not a valid request, or its memory was refused.
  /// True: protobuf would accept the whole body.
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

  /// Parses a piece with protobuf, within the nesting limit that remains at its depth. False: the
  /// bytes are invalid. Read has already charged the memory, for one such message at a time.
  static bool ParsePiece(Piece::Kind kind, std::string_view bytes,
                         google::protobuf::MessageLite* message);

 private:
  bool ReadResourceMetrics(std::string_view bytes);
  bool ReadScopeMetrics(std::string_view bytes);
  bool ReadMetric(std::string_view bytes);
  /// Reads the points of a gauge or sum and appends them to numbers_. False: it contains something
  /// else.
  bool ReadNumbers(std::string_view bytes, bool sum);
  bool ReadNumber(std::string_view bytes);
  /// Reads consecutive attributes of a number, up to the first other field.
  bool TakeAttributes(std::string_view* rest, uint32_t* attributes);
  bool ReadAttribute(std::string_view bytes, Attributes* attributes);
  void SortLabels(Attributes* attributes);
  /// Checks that protobuf accepts the piece; charges its memory.
  template <typename Message>
  bool CheckPiece(Piece::Kind kind, std::string_view bytes);
  bool AddPiece(Piece::Kind kind, std::string_view bytes);
  /// Charges memory before an element is appended to a list.
  template <typename T>
  static bool MakeRoom(std::vector<T>* list, RequestMemory::Room* room);

  RequestMemory::Room message_room_;  // for the largest message that is left to protobuf
  RequestMemory::Room pieces_room_, numbers_room_, attributes_room_, labels_room_, texts_room_;
  std::vector<Piece> pieces_;
  std::vector<Number> numbers_;
  std::vector<Attributes> attributes_;
  std::vector<Label> labels_;
  std::deque<std::string> texts_;  // label values that are not texts in the body
  // The current resource and scope. Their pieces are added when the first metric follows.
  std::string_view resource_, scope_;
  bool resource_told_ = false, scope_told_ = false;
};

}  // namespace hg::http
