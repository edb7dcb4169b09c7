#pragma once
// Parses the protobuf body of an OTLP request in place. Almost all bodies consist mainly of points
// of gauges and sums whose values are numbers and whose attributes are texts and numbers. The
// parser reads these points without creating protobuf objects. The protobuf library parses all
// other metrics, one message at a time. If Read returns false, the caller lets the protobuf library
// parse the whole body; the result is the same.

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

/// Parses bodies, one after another. Only one thread at a time may use the object. Its results
/// refer to the bytes of the body that was passed to the last call of Read.
class OtlpBody {
 public:
  /// `memory` must outlive the object. If `memory` is nullptr, the parser charges nothing.
  explicit OtlpBody(RequestMemory::Share* memory)
      : message_room_(memory),
        pieces_room_(memory),
        numbers_room_(memory),
        attributes_room_(memory),
        labels_room_(memory),
        texts_room_(memory) {}

  /// The attributes of a point as labels. The labels are sorted by name, and each name occurs only
  /// once.
  struct Attributes {
    std::string_view raw = {};    // the encoded attributes, as bytes of the body
    size_t first = 0, count = 0;  // the place of the labels in labels_ (see Labels)
    size_t bytes = 0;  // number of bytes of all names and values, including dropped duplicates
  };
  struct Number {
    uint32_t attributes = 0;  // index in attributes_ (see AttributesOf)
    int64_t time_ms = 0;
    PointValue value;
  };
  /// A message of the body. Pieces are in the order of the body. A resource belongs to the scopes
  /// that follow it, and a scope belongs to the metrics that follow it. Resources and scopes
  /// without metrics are left out.
  struct Piece {
    enum class Kind : uint8_t {
      kResource,
      kScope,
      kNumbers,  // a gauge or sum whose points the parser has read completely (see Numbers)
      kMetric,   // any other metric; the protobuf library parses it
    };
    Kind kind;
    std::string_view bytes;  // the encoded message, as bytes of the body
    // The following members are set only for kNumbers.
    std::string_view name = {};   // name of the metric
    size_t first = 0, count = 0;  // the place of the points in numbers_ (see Numbers)
  };

  /// Finds the pieces of the body. Returns true only if the protobuf library would also accept the
  /// whole body. Returns false if the body is irregular or invalid, or if there is not enough
  /// memory for it.
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

  /// Parses a piece with the protobuf library. The messages that contain the piece count towards
  /// the nesting limit. Returns false if the bytes are invalid. Read has charged memory for the
  /// largest piece only, so only one parsed piece may exist at a time.
  static bool ParsePiece(Piece::Kind kind, std::string_view bytes,
                         google::protobuf::MessageLite* message);

 private:
  bool ReadResourceMetrics(std::string_view bytes);
  bool ReadScopeMetrics(std::string_view bytes);
  bool ReadMetric(std::string_view bytes);
  /// Reads the points of a gauge or a sum, and appends them to numbers_. Returns false if the gauge
  /// or sum contains anything that is not a number.
  bool ReadNumbers(std::string_view bytes, bool sum);
  bool ReadNumber(std::string_view bytes);
  /// Reads the consecutive attributes of a point, up to the first field that is not an attribute.
  bool TakeAttributes(std::string_view* rest, uint32_t* attributes);
  bool ReadAttribute(std::string_view bytes, Attributes* attributes);
  void SortLabels(Attributes* attributes);
  /// Returns whether the protobuf library accepts the piece. Charges the memory that parsing the
  /// piece needs.
  template <typename Message>
  bool CheckPiece(Piece::Kind kind, std::string_view bytes);
  bool AddPiece(Piece::Kind kind, std::string_view bytes);
  /// Charges memory for one more element of a list. Call this function before you append the
  /// element.
  template <typename T>
  static bool MakeRoom(std::vector<T>* list, RequestMemory::Room* room);

  /// Memory of the largest message that the protobuf library must parse.
  RequestMemory::Room message_room_;
  RequestMemory::Room pieces_room_, numbers_room_, attributes_room_, labels_room_, texts_room_;
  std::vector<Piece> pieces_;
  std::vector<Number> numbers_;
  std::vector<Attributes> attributes_;
  std::vector<Label> labels_;
  std::deque<std::string> texts_;  // the texts of label values that are numbers in the body
  // The resource and the scope that are being read. AddPiece appends them to pieces_ before their
  // first metric.
  std::string_view resource_, scope_;
  bool resource_told_ = false, scope_told_ = false;
};

}  // namespace hg::http
