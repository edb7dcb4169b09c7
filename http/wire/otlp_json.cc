#include "http/wire/otlp_json.h"

#include <otlp.pb.h>

// Without NDEBUG, simdjson's iterators call assert, which makes parsing take 50 % longer
// (put_json.cc).
#ifndef NDEBUG
#define NDEBUG
#endif
#include <simdjson.h>

#include <bit>
#include <charconv>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "http/wire/protobuf_wire.h"
#include "storage/base/invariant.h"
#include "storage/base/sized_bytes.h"
#include "storage/base/varint.h"

namespace hg::http {
namespace {

namespace dom = simdjson::dom;
using google::protobuf::Descriptor;
using google::protobuf::EnumDescriptor;
using google::protobuf::FieldDescriptor;
using protobuf_wire::kFixed64;
using protobuf_wire::kSized;
using protobuf_wire::kVarint;
using protobuf_wire::Tag;

/// Maximum nesting of objects and arrays. Histograms with lists as attributes are nested less
/// deeply.
constexpr size_t kDepthMax = 24;
constexpr int64_t kExactIntegerMax = int64_t{1} << 53;
/// The size of a message is known only after its contents. Its varint therefore always uses this
/// many bytes.
constexpr size_t kSizeBytes = 4;

/// The JSON names of a message's fields.
struct Shape {
  struct Field {
    std::string_view name;
    FieldDescriptor::Type type;
    bool repeated;
    uint8_t tag;
    uint32_t bit, excludes;  // the field's bit, and the bits of fields that exclude it
    const Shape* message = nullptr;
    const EnumDescriptor* names = nullptr;
  };
  std::vector<Field> fields;

  [[nodiscard]] const Field* Find(std::string_view name) const {
    for (const Field& field : fields) {
      if (field.name == name) return &field;
    }
    return nullptr;
  }
};

uint8_t TagOf(const FieldDescriptor& field) {
  INVARIANT(field.number() < 16);
  switch (field.type()) {
    case FieldDescriptor::TYPE_MESSAGE:
    case FieldDescriptor::TYPE_STRING:
    case FieldDescriptor::TYPE_BYTES:
      return Tag(field.number(), kSized);
    case FieldDescriptor::TYPE_DOUBLE:
    case FieldDescriptor::TYPE_FIXED64:
    case FieldDescriptor::TYPE_SFIXED64:
      return Tag(field.number(), kFixed64);
    default:
      return Tag(field.number(), kVarint);
  }
}

/// The Shapes of the request and of all messages in it. Messages may contain each other
/// recursively.
class Shapes {
 public:
  static const Shape& OfRequest() {
    static Shapes all;
    static const Shape& request = all.Of(*otlp::ExportMetricsServiceRequest::descriptor());
    return request;
  }

 private:
  const Shape& Of(const Descriptor& message) {
    std::unique_ptr<Shape>& shape = shapes_[&message];
    if (shape != nullptr) return *shape;
    shape = std::make_unique<Shape>();
    Shape& made = *shape;
    for (int i = 0; i < message.field_count(); ++i) {
      const FieldDescriptor& field = *message.field(i);
      Shape::Field& told = made.fields.emplace_back();
      told = {field.json_name(), field.type(), field.is_repeated(), TagOf(field), 1U << i, 1U << i};
      if (const auto* one_of = field.real_containing_oneof(); one_of != nullptr) {
        for (int j = 0; j < one_of->field_count(); ++j)
          told.excludes |= 1U << one_of->field(j)->index();
      }
      if (field.message_type() != nullptr) told.message = &Of(*field.message_type());
      told.names = field.enum_type();
    }
    return made;
  }

  std::map<const Descriptor*, std::unique_ptr<Shape>> shapes_;
};

class Encoder {
 public:
  explicit Encoder(std::string* out) : out_(*out) {}

  /// Encodes the members of an object as fields.
  bool Add(const Shape& shape, dom::element element) {
    dom::object object;
    if (element.get(object) != simdjson::SUCCESS) return false;
    uint32_t seen = 0;
    for (const auto [name, value] : object) {
      const Shape::Field* field = shape.Find(name);
      if (field == nullptr) {
        // Protobuf also accepts the field names of the .proto file, which contain '_'.
        if (name.empty() || name.find('_') != std::string_view::npos) return false;
        continue;
      }
      if ((seen & field->excludes) != 0) return false;
      seen |= field->bit;
      if (!(field->repeated ? AddItems(*field, value) : AddValue(*field, value))) return false;
    }
    return true;
  }

 private:
  bool AddItems(const Shape::Field& field, dom::element element) {
    dom::array items;
    if (element.get(items) != simdjson::SUCCESS) return false;
    for (const dom::element item : items) {
      if (!AddValue(field, item)) return false;
    }
    return true;
  }

  bool AddValue(const Shape::Field& field, dom::element value) {
    out_.push_back(static_cast<char>(field.tag));
    switch (field.type) {
      case FieldDescriptor::TYPE_MESSAGE:
        return AddMessage(*field.message, value);
      case FieldDescriptor::TYPE_STRING:
        return AddText(value);
      case FieldDescriptor::TYPE_DOUBLE:
        return AddDouble(value);
      case FieldDescriptor::TYPE_FIXED64:
        return AddWhole<uint64_t>(value, &Encoder::AddFixed64);
      case FieldDescriptor::TYPE_SFIXED64:
        return AddWhole<int64_t>(value, &Encoder::AddFixed64);
      case FieldDescriptor::TYPE_INT64:
        return AddWhole<int64_t>(value, &Encoder::AddVarint);
      case FieldDescriptor::TYPE_UINT32:
        return AddWhole<uint32_t>(value, &Encoder::AddVarint);
      case FieldDescriptor::TYPE_BOOL:
        return AddBool(value);
      case FieldDescriptor::TYPE_ENUM:
        return AddName(*field.names, value);
      default:
        return false;
    }
  }

  bool AddMessage(const Shape& shape, dom::element value) {
    const size_t at = out_.size();
    out_.append(kSizeBytes, '\0');
    if (!Add(shape, value)) return false;
    size_t size = out_.size() - at - kSizeBytes;
    for (size_t i = 0; i < kSizeBytes; ++i, size >>= 7)
      out_[at + i] = static_cast<char>((size & 0x7F) | (i + 1 < kSizeBytes ? 0x80 : 0));
    return size == 0;
  }

  bool AddText(dom::element value) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    AppendSized(&out_, text);
    return true;
  }

  /// Adds a number. Returns false if protobuf must read the value, such as NaN, which is given as a
  /// text.
  bool AddDouble(dom::element value) {
    double number = 0;
    int64_t whole = 0;
    if (value.get(whole) == simdjson::SUCCESS) {
      // Protobuf refuses integers that a double cannot represent.
      if (whole < -kExactIntegerMax || whole > kExactIntegerMax) return false;
    } else if (value.type() != dom::element_type::DOUBLE) {
      return false;
    }
    if (value.get(number) != simdjson::SUCCESS) return false;
    AddFixed64(std::bit_cast<uint64_t>(number));
    return true;
  }

  /// Accepts a number, or a text that contains a number, because JavaScript writes large integers
  /// as texts.
  template <typename Number>
  bool AddWhole(dom::element value, void (Encoder::*add)(uint64_t)) {
    Number number = 0;
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), number);
      if (error != std::errc() || stop != text.data() + text.size()) return false;
    } else {
      int64_t whole = 0;
      if (value.get(whole) != simdjson::SUCCESS || !std::in_range<Number>(whole)) return false;
      number = static_cast<Number>(whole);
    }
    (this->*add)(static_cast<uint64_t>(number));
    return true;
  }

  bool AddBool(dom::element value) {
    bool truth = false;
    if (value.get(truth) != simdjson::SUCCESS) return false;
    AddVarint(truth ? 1 : 0);
    return true;
  }

  /// Accepts a name of the enumeration or its number.
  bool AddName(const EnumDescriptor& names, dom::element value) {
    const google::protobuf::EnumValueDescriptor* found = nullptr;
    std::string_view text;
    int64_t number = 0;
    if (value.get(text) == simdjson::SUCCESS) {
      found = names.FindValueByName(std::string(text));
    } else if (value.get(number) == simdjson::SUCCESS && std::in_range<int>(number)) {
      found = names.FindValueByNumber(static_cast<int>(number));
    }
    if (found == nullptr) return false;
    AddVarint(static_cast<uint64_t>(found->number()));
    return true;
  }

  void AddVarint(uint64_t number) { AppendVarint(&out_, number); }
  void AddFixed64(uint64_t number) {
    if constexpr (std::endian::native == std::endian::big) number = __builtin_bswap64(number);
    out_.append(reinterpret_cast<const char*>(&number), sizeof(number));
  }

  std::string& out_;
};

/// Returns an estimate of the memory of simdjson and the message, computed from the numbers of
/// values and bytes. simdjson's buffers are larger, but the rest of them is never touched.
uint64_t BytesOf(std::string_view json) {
  constexpr uint64_t kValueBytes = 32, kBytesPerByte = 4;
  uint64_t values = 0;
  for (const char c : json) values += c == ',' || c == ':' || c == '{' || c == '[';
  return kValueBytes * values + kBytesPerByte * json.size();
}

}  // namespace

bool OtlpJsonToProtobuf(std::string_view json, std::string* protobuf,
                        RequestMemory::Share* memory) {
  const uint64_t bytes = memory != nullptr ? BytesOf(json) : 0;
  if (memory != nullptr && !memory->Take(bytes)) return false;
  protobuf->reserve(json.size());
  dom::parser parser;
  dom::element request;
  if (parser.allocate(json.size(), kDepthMax) == simdjson::SUCCESS &&
      parser.parse(json.data(), json.size()).get(request) == simdjson::SUCCESS &&
      Encoder(protobuf).Add(Shapes::OfRequest(), request)) {
    return true;
  }
  std::string().swap(*protobuf);
  if (memory != nullptr) memory->Give(bytes);
  return false;
}

}  // namespace hg::http
