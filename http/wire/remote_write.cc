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

constexpr uint32_t kSeriesTag = WireFormatLite::MakeTag(
    prometheus::WriteRequest::kTimeseriesFieldNumber, WireFormatLite::WIRETYPE_LENGTH_DELIMITED);

Status NoRequest() {
  return Status::InvalidArgument("The body is not a protobuf message prometheus.WriteRequest");
}

// Parses in place, as protobuf does: the last of duplicate fields counts. False: protobuf must
// parse the series.

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
}

/// Copies a series that protobuf parsed.
void Fill(const prometheus::TimeSeries& from, WrittenSeries* series) {
  for (const prometheus::Label& label : from.labels())
    series->labels.push_back({label.name(), label.value()});
  for (const prometheus::Sample& sample : from.samples())
    series->samples.push_back({sample.value(), sample.timestamp()});
  series->histograms = static_cast<size_t>(from.histograms_size());
}

}  // namespace

Status ReadWriteRequest(std::string_view bytes,
                        const std::function<void(const WrittenSeries&)>& visit,
                        RequestMemory::Share* memory) {
  if (bytes.size() > INT_MAX) return Status::LimitExceeded("The request is larger than 2 GiB");
  google::protobuf::io::CodedInputStream in(reinterpret_cast<const uint8_t*>(bytes.data()),
                                            static_cast<int>(bytes.size()));
  WrittenSeries series;  // reused for all series, so that its memory is kept
  RequestMemory::Room room(memory), irregular_room(memory);
  prometheus::TimeSeries irregular;
  while (in.CurrentPosition() < static_cast<int>(bytes.size())) {
    const uint32_t tag = in.ReadTag();
    if (tag != kSeriesTag) {
      if (tag == 0 || !WireFormatLite::SkipField(&in, tag)) return NoRequest();
      continue;
    }
    int size = 0;
    if (!in.ReadVarintSizeAsInt(&size)) return NoRequest();
    const std::string_view rest = bytes.substr(static_cast<size_t>(in.CurrentPosition()));
    if (static_cast<size_t>(size) > rest.size()) return NoRequest();
    if (static_cast<size_t>(size) > kWriteSeriesBytesMax) {
      return Status::InvalidArgument("A series of " + std::to_string(size) +
                                     " bytes is longer than " +
                                     std::to_string(kWriteSeriesBytesMax));
    }
    // Two bytes may become a label or a sample.
    constexpr uint64_t kBytesPerByte = sizeof(Label) / 2, kSmallSeries = 64 << 10;
    if (static_cast<uint64_t>(size) > kSmallSeries)
      RETURN_IF_ERROR(room.Grow(kBytesPerByte * static_cast<uint64_t>(size)));
    Clear(&series);
    if (const auto sent = rest.substr(0, static_cast<size_t>(size)); !ReadSeries(sent, &series)) {
      if (!ParseMessage(sent, &irregular, 0, &irregular_room)) return NoRequest();
      Clear(&series);
      Fill(irregular, &series);
    }
    in.Skip(size);
    visit(series);
  }
  return {};
}

}  // namespace hg::http
