#include "http/api/remote_write.h"

#include <optional>
#include <string>
#include <vector>

#include "http/api/snappy_body.h"
#include "http/errors.h"
#include "http/labelled_points.h"
#include "http/replies.h"
#include "http/services.h"
#include "http/wire/remote_write.h"
#include "query/running_request.h"

namespace hg::http {
namespace {

/// `labels`: a reusable buffer.
void AddSeries(const WrittenSeries& series, std::vector<Label>* labels, LabelledSink* points) {
  std::string_view metric;
  labels->clear();
  for (const Label& label : series.labels) {
    if (label.name == kNameLabel && metric.empty()) {
      metric = label.value;
    } else {
      labels->push_back(label);
    }
  }
  points->SetSeries(metric, *labels);
  for (const WrittenSeries::Sample& sample : series.samples) {
    points->BeginItem();
    points->Add(sample.time_ms, PointValue::Double(sample.value));
  }
  for (size_t i = 0; i < series.histograms; ++i) {
    points->BeginItem();
    points->Refuse("native histograms cannot be stored");
  }
}

}  // namespace

void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out) {
  const std::optional<std::string> bytes =
      RequireSnappyBody(request, "prometheus.WriteRequest", services.options.body_bytes_max, out);
  if (!bytes) return;
  LabelledPoints points(services, *request.running, request.writer.get());
  std::vector<Label> labels;
  const Status read = ReadWriteRequest(
      *bytes, [&](const WrittenSeries& series) { AddSeries(series, &labels, &points); },
      request.memory);
  if (!read.ok()) return SendStatus(out, request, read);
  const Status stored = points.Finish();
  if (!stored.ok()) return SendWriteRefusal(out, request, stored);
  if (points.refused() == 0) return SendEmpty(out, 204);
  SendError(out, request, 400,
            std::to_string(points.refused()) + " of " + std::to_string(points.items()) +
                " samples cannot be stored, the others are; the first: " + points.first_refusal());
}

}  // namespace hg::http
