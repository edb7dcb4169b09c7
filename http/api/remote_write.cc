#include "http/api/remote_write.h"

#include <prometheus.pb.h>

#include <optional>
#include <string>
#include <vector>

#include "http/api/snappy_body.h"
#include "http/errors.h"
#include "http/labelled_points.h"
#include "http/replies.h"
#include "http/services.h"
#include "http/wire/remote_write.h"

namespace hg::http {
namespace {

void AddSeries(const prometheus::TimeSeries& series, LabelledSink* points) {
  std::string_view metric;
  std::vector<Label> labels;
  labels.reserve(static_cast<size_t>(series.labels_size()));
  for (const prometheus::Label& label : series.labels()) {
    if (label.name() == kNameLabel && metric.empty()) {
      metric = label.value();
    } else {
      labels.push_back({label.name(), label.value()});
    }
  }
  points->SetSeries(metric, labels);
  for (const prometheus::Sample& sample : series.samples()) {
    points->BeginItem();
    points->Add(sample.timestamp(), PointValue::Double(sample.value()));
  }
  for (int i = 0; i < series.histograms_size(); ++i) {
    points->BeginItem();
    points->Refuse("native histograms cannot be stored");
  }
}

}  // namespace

void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<std::string> bytes =
      RequireSnappyBody(request, "prometheus.WriteRequest", services.options.body_bytes_max, out);
  if (!bytes) return;
  LabelledPoints points(services);
  const Status read = ReadWriteRequest(
      *bytes, [&](const prometheus::TimeSeries& series) { AddSeries(series, &points); });
  if (!read.ok()) return SendStatus(out, request, read);
  const Status stored = points.Finish();
  if (!stored.ok()) return SendWriteRefusal(out, request, stored);
  if (points.refused() == 0) return SendEmpty(out, 204);
  SendError(out, request, 400,
            std::to_string(points.refused()) + " of " + std::to_string(points.items()) +
                " samples cannot be stored, the others are; the first: " + points.first_refusal());
}

}  // namespace hg::http
