#include "http/wire/remote_write.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <prometheus.pb.h>

#include <array>
#include <bit>
#include <climits>
#include <initializer_list>
#include <string>

#include "http/wire/protobuf_message.h"
#include "http/wire/protobuf_wire.h"

namespace hg::http {
namespace {

using google::protobuf::internal::WireFormatLite;

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

constexpr uint8_t kLabels = Tag(1, kSized), kSamples = Tag(2, kSized), kHistograms = Tag(4, kSized);
constexpr uint8_t kLabelName = Tag(1, kSized), kLabelText = Tag(2, kSized);
constexpr uint8_t kNumber = Tag(1, kFixed64), kSampleTime = Tag(2, kVarint);

constexpr uint8_t kType = Tag(1, kVarint), kFamily = Tag(2, kSized);
constexpr uint8_t kHelp = Tag(4, kSized), kUnit = Tag(5, kSized);
// Tags of the fields of remote write 2.0.
constexpr uint8_t kRefs = Tag(1, kSized), kRef = Tag(1, kVarint);
constexpr uint8_t kHistograms2 = Tag(3, kSized), kMetadata2 = Tag(5, kSized);
constexpr uint8_t kHelpRef = Tag(3, kVarint), kUnitRef = Tag(4, kVarint);

/// The field of WriteRequest with the metadata of a metric.
constexpr int kMetadataField = 3;

/// Maximum bytes of a series that is not charged to the request.
constexpr size_t kSmallSeries = 64 << 10;

Status NoRequest(std::string_view message) {
  return Status::InvalidArgument("The body is not a protobuf message " + std::string(message));
}

/// Calls visit(number, content) for each field of a message that is a text or a message. Skips
/// other fields. `message` is named in errors. Stops with the first error of `visit`.
template <typename Visit>
Status ForEachSizedField(std::string_view bytes, std::string_view message, Visit visit) {
  if (bytes.size() > INT_MAX) return Status::LimitExceeded("The request is larger than 2 GiB");
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  // CodedInputStream also reads tags of more bytes, and drops their high bits. Parsers of whole
  // messages refuse these tags.
  constexpr int kTagBytesMax = 5;
  while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
    const int begin = in.CurrentPosition();
    const uint32_t tag = in.ReadTag();
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (field == 0 || in.CurrentPosition() - begin > kTagBytesMax) return NoRequest(message);
    if (WireFormatLite::GetTagWireType(tag) != WireFormatLite::WIRETYPE_LENGTH_DELIMITED) {
      if (!WireFormatLite::SkipField(&in, tag)) return NoRequest(message);
      continue;
    }
    int size = 0;
    if (!in.ReadVarintSizeAsInt(&size)) return NoRequest(message);
    const std::string_view rest = bytes.substr(static_cast<size_t>(in.CurrentPosition()));
    if (static_cast<size_t>(size) > rest.size()) return NoRequest(message);
    RETURN_IF_ERROR(visit(field, rest.substr(0, static_cast<size_t>(size))));
    in.Skip(size);
  }
  return {};
}

/// Checks the length of an encoded series, and charges the memory that it may take when parsed.
Status TakeRoom(size_t size, uint64_t bytes_per_byte, RequestMemory::Room* room) {
  if (size > kWriteSeriesBytesMax) {
    return Status::InvalidArgument("A series of " + std::to_string(size) +
                                   " bytes is longer than " + std::to_string(kWriteSeriesBytesMax));
  }
  return size > kSmallSeries ? room->Grow(bytes_per_byte * size) : Status();
}

/// Returns the name of a type of Prometheus, or "" if the type is not known.
std::string_view TypeName(uint64_t type) {
  constexpr std::array<std::string_view, 8> kNames = {
      "", "counter", "gauge", "histogram", "gaugehistogram", "summary", "info", "stateset"};
  return type < kNames.size() ? kNames[type] : kNames[0];
}

// Parses a series in place. As in protobuf, the last of duplicate fields counts. Returns false if
// protobuf must parse the series.

bool ReadLabel(std::string_view bytes, Label* label) {
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    if (tag != kLabelName && tag != kLabelText) {
      if (!SkipField(tag, &bytes)) return false;
      continue;
    }
    std::string_view& text = tag == kLabelName ? label->name : label->value;
    if (!TakeSized(&bytes, &text)) return false;
  }
  return true;
}

bool ReadSample(std::string_view bytes, WrittenSeries::Sample* sample) {
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    uint64_t bits = 0;
    if (tag == kNumber) {
      if (!TakeFixed64(&bytes, &bits)) return false;
      sample->value = std::bit_cast<double>(bits);
    } else if (tag == kSampleTime) {
      if (!TakeVarint(&bytes, &bits)) return false;
      sample->time_ms = static_cast<int64_t>(bits);
    } else if (!SkipField(tag, &bytes)) {
      return false;
    }
  }
  return true;
}

/// Call after each added label. If the series has too many labels, drops them and sets
/// series->fault.
void LimitLabels(WrittenSeries* series) {
  if (series->labels.size() <= kWriteLabelsMax) [[likely]]
    return;
  series->labels.clear();
  series->fault = "has more than " + std::to_string(kWriteLabelsMax) + " labels";
}

bool ReadSeries(std::string_view bytes, WrittenSeries* series) {
  std::string_view part;
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    switch (tag) {
      case kLabels:
        if (!TakeSized(&bytes, &part) || !ReadLabel(part, &series->labels.emplace_back()))
          return false;
        LimitLabels(series);
        break;
      case kSamples:
        if (!TakeSized(&bytes, &part) || !ReadSample(part, &series->samples.emplace_back()))
          return false;
        break;
      case kHistograms:
        ++series->histograms;
        [[fallthrough]];
      default:
        if (!SkipField(tag, &bytes)) return false;
    }
  }
  return true;
}

/// Parses the metadata of remote write 1.0.
bool ReadMetadata(std::string_view bytes, MetricDescription* description) {
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    if (tag == kType) {
      uint64_t type = 0;
      if (!TakeVarint(&bytes, &type)) return false;
      description->type = TypeName(type);
    } else if (tag == kFamily || tag == kHelp || tag == kUnit) {
      std::string_view& text = tag == kFamily ? description->metric
                               : tag == kHelp ? description->help
                                              : description->unit;
      if (!TakeSized(&bytes, &text) || !IsText(text)) return false;
    } else if (!SkipField(tag, &bytes)) {
      return false;
    }
  }
  return true;
}

void Clear(WrittenSeries* series) {
  series->labels.clear();
  series->samples.clear();
  series->histograms = 0;
  series->fault.clear();
}

/// Copies a series that protobuf parsed.
void Fill(const prometheus::TimeSeries& from, WrittenSeries* series) {
  for (const prometheus::Label& label : from.labels()) {
    series->labels.push_back({label.name(), label.value()});
    LimitLabels(series);
  }
  for (const prometheus::Sample& sample : from.samples())
    series->samples.push_back({sample.value(), sample.timestamp()});
  series->histograms = static_cast<size_t>(from.histograms_size());
}

/// The parts of a series of remote write 2.0 that refer to symbols.
struct SeriesRefs {
  std::vector<uint32_t> labels;
  uint32_t type = 0, help = 0, unit = 0;
};

bool TakeRef(std::string_view* bytes, uint32_t* ref) {
  uint64_t number = 0;
  if (!TakeVarint(bytes, &number)) return false;
  *ref = static_cast<uint32_t>(number);
  return true;
}

/// Reads the type and the references of the texts that describe a metric.
bool ReadMetadata2(std::string_view bytes, SeriesRefs* refs) {
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    if (tag == kType || tag == kHelpRef || tag == kUnitRef) {
      uint32_t& to = tag == kType ? refs->type : tag == kHelpRef ? refs->help : refs->unit;
      if (!TakeRef(&bytes, &to)) return false;
    } else if (!SkipField(tag, &bytes)) {
      return false;
    }
  }
  return true;
}

/// Reads a series of remote write 2.0. `refs` receives the references of its texts.
bool ReadSeries2(std::string_view bytes, WrittenSeries* series, SeriesRefs* refs) {
  std::string_view part;
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    switch (tag) {
      case kRefs:
        if (!TakeSized(&bytes, &part)) return false;
        while (!part.empty())
          if (!TakeRef(&part, &refs->labels.emplace_back())) return false;
        break;
      case kRef:  // not packed
        if (!TakeRef(&bytes, &refs->labels.emplace_back())) return false;
        break;
      case kSamples:
        if (!TakeSized(&bytes, &part) || !ReadSample(part, &series->samples.emplace_back()))
          return false;
        break;
      case kMetadata2:
        if (!TakeSized(&bytes, &part) || !ReadMetadata2(part, refs)) return false;
        break;
      case kHistograms2:
        ++series->histograms;
        [[fallthrough]];
      default:
        if (!SkipField(tag, &bytes)) return false;
    }
  }
  return true;
}

void Clear(SeriesRefs* refs) {
  refs->labels.clear();
  refs->type = refs->help = refs->unit = 0;
}

void Fill(const prometheus::TimeSeries2& from, WrittenSeries* series, SeriesRefs* refs) {
  refs->labels.assign(from.labels_refs().begin(), from.labels_refs().end());
  refs->type = static_cast<uint32_t>(from.metadata().type());
  refs->help = from.metadata().help_ref();
  refs->unit = from.metadata().unit_ref();
  for (const prometheus::Sample& sample : from.samples())
    series->samples.push_back({sample.value(), sample.timestamp()});
  series->histograms = static_cast<size_t>(from.histograms_size());
}

using Symbols = std::vector<std::string_view>;

/// Finds the labels of a series. Returns the bytes of their texts. Sets series->fault instead if a
/// reference is wrong or the labels are too long.
uint64_t ResolveLabels(const SeriesRefs& refs, const Symbols& symbols, WrittenSeries* series) {
  const size_t count = refs.labels.size();
  uint64_t bytes = 0;
  for (const uint32_t ref : refs.labels) {
    if (ref >= symbols.size()) {
      series->fault = "refers to the symbol " + std::to_string(ref) + " of a table of " +
                      std::to_string(symbols.size());
      return 0;
    }
    bytes += symbols[ref].size();
  }
  if (count % 2 != 0) {
    series->fault = "has a label without a value";
  } else if (bytes > kWriteSeriesBytesMax) {
    series->fault = "has labels of " + std::to_string(bytes) + " bytes, more than " +
                    std::to_string(kWriteSeriesBytesMax);
  }
  if (!series->fault.empty()) return 0;
  for (size_t i = 0; i < count; i += 2) {
    series->labels.push_back({symbols[refs.labels[i]], symbols[refs.labels[i + 1]]});
    LimitLabels(series);
  }
  return bytes;
}

/// The name of the family that a series belongs to.
std::string_view FamilyOf(std::string_view metric, std::string_view type) {
  const bool histogram = type == "histogram" || type == "gaugehistogram";
  if (!histogram && type != "summary") return metric;
  for (const std::string_view suffix : {"_bucket", "_sum", "_count", "_gsum", "_gcount"})
    if (metric.size() > suffix.size() && metric.ends_with(suffix))
      return metric.substr(0, metric.size() - suffix.size());
  return metric;
}

/// Each series of a request may refer to the same text, which may have megabytes, so only this many
/// bytes of a text are read. ClientNotes keeps fewer bytes.
constexpr size_t kDescriptionTextBytesMax = 4096;

/// Finds the metadata of a series. A reference that is wrong and a text that is not UTF-8 count as
/// empty texts.
MetricDescription DescriptionOf(const WrittenSeries& series, const SeriesRefs& refs,
                                const Symbols& symbols) {
  if (refs.type == 0 && refs.help == 0 && refs.unit == 0) return {};
  const auto text = [&](uint32_t ref) {
    if (ref >= symbols.size()) return std::string_view();
    const std::string_view shown = CutText(symbols[ref], kDescriptionTextBytesMax);
    return IsText(shown) ? shown : std::string_view();
  };
  for (const Label& label : series.labels) {
    if (label.name != kNameLabel || !IsText(label.value)) continue;
    const std::string_view type = TypeName(refs.type);
    return {FamilyOf(label.value, type), type, text(refs.help), text(refs.unit)};
  }
  return {};
}

/// Reads the table of symbols, which may be anywhere in the message.
Status ReadSymbols(std::string_view bytes, RequestMemory::Room* room, Symbols* symbols) {
  constexpr int kSymbols = prometheus::WriteRequest2::kSymbolsFieldNumber;
  size_t count = 0;
  RETURN_IF_ERROR(
      ForEachSizedField(bytes, kWriteRequest2, [&](int field, std::string_view) -> Status {
        count += field == kSymbols;
        return {};
      }));
  RETURN_IF_ERROR(room->Grow(count * sizeof(std::string_view)));
  symbols->reserve(count);
  RETURN_IF_ERROR(
      ForEachSizedField(bytes, kWriteRequest2, [&](int field, std::string_view text) -> Status {
        if (field != kSymbols) return {};
        symbols->push_back(text);
        return {};
      }));
  // A series without a reference refers to the first symbol.
  if (symbols->empty() || symbols->front().empty()) return {};
  return Status::InvalidArgument("The first symbol of the request is not empty");
}

}  // namespace

Status ReadWriteRequest(std::string_view bytes, const SeriesVisitor& visit,
                        const DescriptionVisitor& describe, RequestMemory::Share* memory) {
  WrittenSeries series;  // reused for all series, so that its memory is kept
  RequestMemory::Room room(memory), irregular_room(memory);
  prometheus::TimeSeries irregular;
  const auto read = [&](int field, std::string_view sent) -> Status {
    if (field == kMetadataField) {
      MetricDescription description;
      if (ReadMetadata(sent, &description)) describe(description);
    }
    if (field != prometheus::WriteRequest::kTimeseriesFieldNumber) return {};
    // An encoded sample has at least two bytes. When the vector of samples is full, its samples are
    // copied to a vector of twice the size.
    RETURN_IF_ERROR(TakeRoom(sent.size(), 3 * sizeof(WrittenSeries::Sample) / 2, &room));
    Clear(&series);
    if (!ReadSeries(sent, &series)) {
      if (!ParseMessage(sent, &irregular, 0, &irregular_room)) return NoRequest(kWriteRequest1);
      Clear(&series);
      Fill(irregular, &series);
    }
    return visit(series);
  };
  return ForEachSizedField(bytes, kWriteRequest1, read);
}

Status ReadWriteRequest2(std::string_view bytes, uint64_t labels_bytes_max,
                         const SeriesVisitor& visit, const DescriptionVisitor& describe,
                         RequestMemory::Share* memory) {
  RequestMemory::Room symbols_room(memory), room(memory), irregular_room(memory);
  Symbols symbols;
  RETURN_IF_ERROR(ReadSymbols(bytes, &symbols_room, &symbols));
  WrittenSeries series;  // like `refs`, reused for all series
  SeriesRefs refs;
  prometheus::TimeSeries2 irregular;
  MetricDescription described;
  uint64_t labels_bytes = 0;
  const auto read = [&](int field, std::string_view sent) -> Status {
    if (field != prometheus::WriteRequest2::kTimeseriesFieldNumber) return {};
    // A reference may have only one byte, and a sample two bytes. When a vector is full, its
    // elements are copied to a vector of twice the size.
    constexpr uint64_t kBytesPerByte = 3 * sizeof(uint32_t) + 3 * sizeof(WrittenSeries::Sample) / 2;
    RETURN_IF_ERROR(TakeRoom(sent.size(), kBytesPerByte, &room));
    Clear(&series);
    Clear(&refs);
    if (!ReadSeries2(sent, &series, &refs)) {
      if (!ParseMessage(sent, &irregular, 0, &irregular_room)) return NoRequest(kWriteRequest2);
      Clear(&series);
      Clear(&refs);
      Fill(irregular, &series, &refs);
    }
    labels_bytes += ResolveLabels(refs, symbols, &series);
    if (labels_bytes > labels_bytes_max) {
      return Status::LimitExceeded("The labels of the series have more than " +
                                   std::to_string(labels_bytes_max) + " bytes");
    }
    // The series of a metric usually follow each other and repeat the metric's description, so
    // equal ones are passed only once.
    const MetricDescription description = DescriptionOf(series, refs, symbols);
    if (!description.metric.empty() && description != described) describe(described = description);
    return visit(series);
  };
  return ForEachSizedField(bytes, kWriteRequest2, read);
}

}  // namespace hg::http
