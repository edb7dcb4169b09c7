#pragma once
// The body of an OTLP request, read in place. Most of nearly every body are numbers (points of
// gauges and sums) with attributes that are texts and numbers: these are taken out of the bytes
// without an object each. What else it holds is left to protobuf, a message at a time. Whoever gets
// a "no" asks protobuf for the whole body, which agrees with it.

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

/// One thread at a time. Borrows the body that it read last.
class OtlpBody {
 public:
  /// Attributes of numbers as labels: by name, each name once.
  struct Attributes {
    std::string_view raw = {};  // their bytes in the body
    size_t first = 0, count = 0;
    size_t bytes = 0;  // of all names and values, those included that another one replaced
  };
  struct Number {
    uint32_t attributes = 0;
    int64_t time_ms = 0;
    PointValue value;
  };
  /// A message of the body, in its order. A resource is of the scopes that follow, a scope of the
  /// metrics that follow; those without metrics are left out.
  struct Piece {
    enum class Kind : uint8_t {
      kResource,
      kScope,
      kNumbers,  // a metric all of whose points are numbers to be stored
      kMetric,   // another one
    };
    Kind kind;
    std::string_view bytes;
    // Of kNumbers.
    std::string_view name = {};
    size_t first = 0, count = 0;
  };

  /// False: it is not regular, or no request at all, or memory for what it is read into was refused
  /// (request_memory.h). True: protobuf would read all of it.
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

  /// Reads a piece's bytes as the message that it is: as deep as it may be there. False: they are
  /// none. Its memory was asked for when the body was read, for one of them at a time.
  static bool ParsePiece(Piece::Kind kind, std::string_view bytes,
                         google::protobuf::MessageLite* message);

 private:
  bool ReadResourceMetrics(std::string_view bytes);
  bool ReadScopeMetrics(std::string_view bytes);
  bool ReadMetric(std::string_view bytes);
  /// The numbers of a gauge or sum, behind those that are there. False: something else is in it.
  bool ReadNumbers(std::string_view bytes, bool sum);
  bool ReadNumber(std::string_view bytes);
  /// From the first attribute of a number up to what is none.
  bool TakeAttributes(std::string_view* rest, uint32_t* attributes);
  bool ReadAttribute(std::string_view bytes, Attributes* attributes);
  void SortLabels(Attributes* attributes);
  /// Whether it can be read so; its memory is asked for.
  template <typename Message>
  bool CheckPiece(Piece::Kind kind, std::string_view bytes);
  bool AddPiece(Piece::Kind kind, std::string_view bytes);
  /// Before each element of a list.
  template <typename T>
  static bool MakeRoom(std::vector<T>* list, RequestMemory::Room* room);

  RequestMemory::Room message_room_;  // for the largest of those that are left to protobuf
  RequestMemory::Room pieces_room_, numbers_room_, attributes_room_, labels_room_, texts_room_;
  std::vector<Piece> pieces_;
  std::vector<Number> numbers_;
  std::vector<Attributes> attributes_;
  std::vector<Label> labels_;
  std::deque<std::string> texts_;  // of labels that are no texts in the body
  // Where the reading stands; told once a metric comes.
  std::string_view resource_, scope_;
  bool resource_told_ = false, scope_told_ = false;
};

}  // namespace hg::http
