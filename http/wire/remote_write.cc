#include "http/wire/remote_write.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>
#include <prometheus.pb.h>

#include <bit>
#include <climits>
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
constexpr uint8_t kName = Tag(1, kSized), kText = Tag(2, kSized);
constexpr uint8_t kNumber = Tag(1, kFixed64), kTime = Tag(2, kVarint);

// Tags of the fields of remote write 2.0.
constexpr uint8_t kRefs = Tag(1, kSized), kRef = Tag(1, kVarint);
constexpr uint8_t kHistograms2 = Tag(3, kSized);

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
  while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
    const uint32_t tag = in.ReadTag();
    const int field = WireFormatLite::GetTagFieldNumber(tag);
    if (field == 0) return NoRequest(message);
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

// Parses a series in place. As in protobuf, the last of duplicate fields counts. Returns false if
// protobuf must parse the series.

bool ReadLabel(std::string_view bytes, Label* label) {
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    if (tag != kName && tag != kText) {
      if (!SkipField(tag, &bytes)) return false;
      continue;
    }
    std::string_view& text = tag == kName ? label->name : label->value;
    if (!TakeSized(&bytes, &text) || !IsText(text)) return false;
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
    } else if (tag == kTime) {
      if (!TakeVarint(&bytes, &bits)) return false;
      sample->time_ms = static_cast<int64_t>(bits);
    } else if (!SkipField(tag, &bytes)) {
      return false;
    }
  }
  return true;
}

bool ReadSeries(std::string_view bytes, WrittenSeries* series) {
  std::string_view part;
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    switch (tag) {
      case kLabels:
        if (!TakeSized(&bytes, &part) || !ReadLabel(part, &series->labels.emplace_back()))
          return false;
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

void Clear(WrittenSeries* series) {
  series->labels.clear();
  series->samples.clear();
  series->histograms = 0;
  series->fault.clear();
}

/// Copies a series that protobuf parsed.
void Fill(const prometheus::TimeSeries& from, WrittenSeries* series) {
  for (const prometheus::Label& label : from.labels())
    series->labels.push_back({label.name(), label.value()});
  for (const prometheus::Sample& sample : from.samples())
    series->samples.push_back({sample.value(), sample.timestamp()});
  series->histograms = static_cast<size_t>(from.histograms_size());
}

bool TakeRef(std::string_view* bytes, uint32_t* ref) {
  uint64_t number = 0;
  if (!TakeVarint(bytes, &number)) return false;
  *ref = static_cast<uint32_t>(number);
  return true;
}

/// Reads a series of remote write 2.0. `refs` receives the references of the labels.
bool ReadSeries2(std::string_view bytes, WrittenSeries* series, std::vector<uint32_t>* refs) {
  std::string_view part;
  for (uint8_t tag = 0; !bytes.empty();) {
    if (!TakeTag(&bytes, &tag)) return false;
    switch (tag) {
      case kRefs:
        if (!TakeSized(&bytes, &part)) return false;
        while (!part.empty())
          if (!TakeRef(&part, &refs->emplace_back())) return false;
        break;
      case kRef:  // not packed
        if (!TakeRef(&bytes, &refs->emplace_back())) return false;
        break;
      case kSamples:
        if (!TakeSized(&bytes, &part) || !ReadSample(part, &series->samples.emplace_back()))
          return false;
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

void Fill(const prometheus::TimeSeries2& from, WrittenSeries* series, std::vector<uint32_t>* refs) {
  refs->assign(from.labels_refs().begin(), from.labels_refs().end());
  for (const prometheus::Sample& sample : from.samples())
    series->samples.push_back({sample.value(), sample.timestamp()});
  series->histograms = static_cast<size_t>(from.histograms_size());
}

using Symbols = std::vector<std::string_view>;

/// Finds the labels of a series. Returns the bytes of their texts. Sets series->fault instead if a
/// reference is wrong or the labels are too long.
uint64_t ResolveLabels(const std::vector<uint32_t>& refs, const Symbols& symbols,
                       WrittenSeries* series) {
  const size_t count = refs.size();
  uint64_t bytes = 0;
  for (const uint32_t ref : refs) {
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
  for (size_t i = 0; i < count; i += 2)
    series->labels.push_back({symbols[refs[i]], symbols[refs[i + 1]]});
  return bytes;
}

/// Reads the table of symbols, which may stand anywhere in the message.
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
        if (!IsText(text)) return NoRequest(kWriteRequest2);
        symbols->push_back(text);
        return {};
      }));
  // A series without a reference refers to the first symbol.
  if (symbols->empty() || symbols->front().empty()) return {};
  return Status::InvalidArgument("The first symbol of the request is not empty");
}

}  // namespace

Status ReadWriteRequest(std::string_view bytes, const SeriesVisitor& visit,
                        RequestMemory::Share* memory) {
  WrittenSeries series;  // reused for all series, so that its memory is kept
  RequestMemory::Room room(memory), irregular_room(memory);
  prometheus::TimeSeries irregular;
  const auto read = [&](int field, std::string_view sent) -> Status {
    if (field != prometheus::WriteRequest::kTimeseriesFieldNumber) return {};
    RETURN_IF_ERROR(TakeRoom(sent.size(), sizeof(Label) / 2, &room));  // a label may have two bytes
    Clear(&series);
    if (!ReadSeries(sent, &series)) {
      if (!ParseMessage(sent, &irregular, 0, &irregular_room)) return NoRequest(kWriteRequest1);
      Clear(&series);
      Fill(irregular, &series);
    }
    visit(series);
    return {};
  };
  return ForEachSizedField(bytes, kWriteRequest1, read);
}

Status ReadWriteRequest2(std::string_view bytes, uint64_t labels_bytes_max,
                         const SeriesVisitor& visit, RequestMemory::Share* memory) {
  RequestMemory::Room symbols_room(memory), room(memory), irregular_room(memory);
  Symbols symbols;
  RETURN_IF_ERROR(ReadSymbols(bytes, &symbols_room, &symbols));
  WrittenSeries series;  // as `refs`, reused for all series
  std::vector<uint32_t> refs;
  prometheus::TimeSeries2 irregular;
  uint64_t labels_bytes = 0;
  const auto read = [&](int field, std::string_view sent) -> Status {
    if (field != prometheus::WriteRequest2::kTimeseriesFieldNumber) return {};
    // A reference may have one byte, and two references become a label.
    constexpr uint64_t kBytesPerByte = sizeof(uint32_t) + sizeof(Label) / 2;
    RETURN_IF_ERROR(TakeRoom(sent.size(), kBytesPerByte, &room));
    Clear(&series);
    refs.clear();
    if (!ReadSeries2(sent, &series, &refs)) {
      if (!ParseMessage(sent, &irregular, 0, &irregular_room)) return NoRequest(kWriteRequest2);
      Clear(&series);
      refs.clear();
      Fill(irregular, &series, &refs);
    }
    labels_bytes += ResolveLabels(refs, symbols, &series);
    if (labels_bytes > labels_bytes_max) {
      return Status::LimitExceeded("The labels of the series have more than " +
                                   std::to_string(labels_bytes_max) + " bytes");
    }
    visit(series);
    return {};
  };
  return ForEachSizedField(bytes, kWriteRequest2, read);
}

}  // namespace hg::http
