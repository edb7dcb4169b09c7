// Messages of other systems: the parsers here give the same result as protobuf, names are legal and
// can be converted back, and the content of a snappy block stays within its limit.

#include <otlp.pb.h>
#include <prometheus.pb.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "http/wire/media_type.h"
#include "http/wire/otlp_points.h"
#include "http/wire/protobuf_message.h"
#include "http/wire/remote_read.h"
#include "http/wire/remote_write.h"
#include "http/wire/series_labels.h"
#include "http/wire/snappy_block.h"
#include "storage/base/invariant.h"
#include "storage/model/escaped_name.h"
#include "storage/model/utf8.h"

namespace hg::http {
namespace {

void CheckSeries(const WrittenSeries& series, const prometheus::TimeSeries& exact) {
  INVARIANT(series.labels.size() == static_cast<size_t>(exact.labels_size()));
  for (int i = 0; i < exact.labels_size(); ++i) {
    const Label& label = series.labels[static_cast<size_t>(i)];
    INVARIANT(label.name == exact.labels(i).name() && label.value == exact.labels(i).value());
  }
  INVARIANT(series.samples.size() == static_cast<size_t>(exact.samples_size()));
  for (int i = 0; i < exact.samples_size(); ++i) {
    const WrittenSeries::Sample& sample = series.samples[static_cast<size_t>(i)];
    INVARIANT(std::bit_cast<uint64_t>(sample.value) ==
              std::bit_cast<uint64_t>(exact.samples(i).value()));
    INVARIANT(sample.time_ms == exact.samples(i).timestamp());
  }
  INVARIANT(series.histograms == static_cast<size_t>(exact.histograms_size()));
}

/// Compares the parser of remote write 2.0 with protobuf.
void Write2(std::string_view bytes) {
  constexpr uint64_t kLabelsBytesMax = 1 << 16;
  prometheus::WriteRequest2 whole;
  const bool good = ParseMessage(bytes, &whole);
  const auto text = [&whole](uint32_t ref) {
    return std::string_view(whole.symbols(static_cast<int>(ref)));
  };
  int place = 0;
  uint64_t labels_bytes = 0;
  const auto check = [&](const WrittenSeries& series) {
    for (const Label& label : series.labels) labels_bytes += label.name.size() + label.value.size();
    INVARIANT(series.fault.empty() || series.labels.empty());
    if (!good) return Status();
    const prometheus::TimeSeries2& exact = whole.timeseries(place++);
    INVARIANT(series.samples.size() == static_cast<size_t>(exact.samples_size()));
    INVARIANT(series.histograms == static_cast<size_t>(exact.histograms_size()));
    if (!series.fault.empty()) return Status();
    INVARIANT(2 * series.labels.size() == static_cast<size_t>(exact.labels_refs_size()));
    for (int i = 0; i < exact.labels_refs_size(); ++i) {
      const Label& label = series.labels[static_cast<size_t>(i / 2)];
      INVARIANT((i % 2 == 0 ? label.name : label.value) == text(exact.labels_refs(i)));
    }
    return Status();
  };
  const auto describe = [](const MetricDescription& description) {
    INVARIANT(IsUtf8(description.metric));
    INVARIANT(IsUtf8(description.help));
  };
  const Status read = ReadWriteRequest2(bytes, kLabelsBytesMax, check, describe, nullptr);
  INVARIANT(labels_bytes <= kLabelsBytesMax);
  INVARIANT(!read.ok() || (good && place == whole.timeseries_size()));
}

void Write(std::string_view bytes) {
  int series = 0;
  prometheus::WriteRequest whole;
  const bool good = ParseMessage(bytes, &whole);
  const Status read = ReadWriteRequest(
      bytes,
      [&](const WrittenSeries& one) {
        if (good) CheckSeries(one, whole.timeseries(series));
        ++series;
        return Status();
      },
      [](const MetricDescription& description) { INVARIANT(IsUtf8(description.help)); }, nullptr);
  INVARIANT(good == read.ok());
  INVARIANT(!good || series == whole.timeseries_size());
  Write2(bytes);
  if (const auto queries = ReadReadRequest(bytes, nullptr); queries.ok()) {
    for (const RemoteQuery& query : queries->queries)
      for (const query::promql::Matcher& matcher : query.matchers) (void)matcher.Admits("a");
  }
}

void Names(std::string_view text) {
  std::vector<Label> labels;
  Bytes keyed;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    const size_t equals = std::min(line.find('='), line.size());
    labels.push_back({line.substr(0, equals), line.substr(std::min(equals + 1, line.size()))});
  }
  AppendLabels(labels, &keyed);
  INVARIANT(ReadLabels(keyed) == labels);
  (void)ReadLabels(text);
  const NameRules rules;
  const auto series = NameSeries(text, labels, {rules, "source", "unknown"});
  INVARIANT(IsUtf8(SeriesText(text, labels)));
  if (!series.ok()) return;
  INVARIANT(IsUtf8(text) && UnescapedName(series->metric) == text);
  INVARIANT(rules.Check("metric", series->metric).ok() && FitsLatin1(series->metric));
  for (const auto& [key, value] : series->tags) {
    INVARIANT(rules.Check("key", key).ok() && FitsLatin1(key));
    INVARIANT(rules.Check("value", value).ok() && FitsLatin1(value));
  }
}

void Snappy(std::string_view bytes) {
  constexpr size_t kBytesMax = 1 << 16;
  std::string out;
  if (UnpackSnappy(bytes, kBytesMax, &out, nullptr).ok()) INVARIANT(out.size() <= kBytesMax);
  INVARIANT(UnpackSnappy(PackSnappy(bytes), bytes.size(), &out, nullptr).ok() && out == bytes);
  const MediaType media = ParseMediaType(bytes);
  INVARIANT(media.type.find(';') == std::string::npos);
}

/// Records the calls and checks their order.
class Checked : public LabelledSink {
 public:
  void SetSeries(std::string_view metric, std::span<const Label> labels) override {
    told_.append(metric).append("{");
    AppendLabels(labels, &told_);
    series_ = true;
  }
  bool BeginItem() override {
    told_ += "item";
    item_ = true, series_ = false;
    return true;
  }
  void Add(int64_t time_ms, PointValue value) override {
    INVARIANT(item_ && series_);
    told_ += std::to_string(time_ms) + "=" + std::to_string(value.bits) + "/" +
             std::to_string(value.flags);
  }
  void Refuse(std::string_view reason) override {
    INVARIANT(item_ && series_ && !reason.empty());
    told_.append(reason);
  }

  /// Returns all recorded calls.
  [[nodiscard]] const Bytes& told() const { return told_; }

 private:
  bool item_ = false, series_ = false;
  Bytes told_;
};

void Otlp(std::string_view bytes) {
  otlp::ExportMetricsServiceRequest request;
  Checked sink;
  const bool good = ParseMessage(bytes, &request);
  if (good) AddDataPoints(request, {{"*"}}, &sink);
  // Parsing in place gives the same result, or leaves the message to protobuf.
  Checked in_place;
  INVARIANT(AddDataPoints(bytes, {{"*"}}, &in_place, nullptr) == good);
  INVARIANT(in_place.told() == sink.told());
  const Status parsed = ParseJsonMessage(bytes, &request, nullptr);
  INVARIANT(parsed.ok() || IsUtf8(parsed.message()));
  if (!parsed.ok()) return;
  AddDataPoints(request, {{}}, &sink);
  INVARIANT(ParseJsonMessage(JsonOf(request), &request, nullptr).ok());
}

}  // namespace
}  // namespace hg::http

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 1) return 0;
  const std::string_view rest(reinterpret_cast<const char*>(data) + 1, size - 1);
  switch (data[0] % 4) {
    case 0:
      hg::http::Write(rest);
      break;
    case 1:
      hg::http::Names(rest);
      break;
    case 2:
      hg::http::Snappy(rest);
      break;
    case 3:
      hg::http::Otlp(rest);
      break;
  }
  return 0;
}
