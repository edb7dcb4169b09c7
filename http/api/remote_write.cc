#include "http/wire/remote_write.h"

#include <optional>
#include <string>
#include <vector>

#include "http/api/handlers.h"
#include "http/api/snappy_body.h"
#include "http/intake/labelled_points.h"
#include "http/request/client_notes.h"
#include "http/request/errors.h"
#include "http/request/replies.h"
#include "http/request/services.h"
#include "query/request/running_request.h"

namespace hg::http {
namespace {

/// Adds the samples of a series to `points`. `labels` is a buffer that is reused for all series.
void AddSeries(const WrittenSeries& series, std::vector<Label>* labels, LabelledSink* points) {
  if (series.samples.empty() && series.histograms == 0) return;
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
    if (!points->BeginItem()) return;
    if (series.fault.empty()) {
      points->Add(sample.time_ms, PointValue::Double(sample.value));
    } else {
      points->Refuse(series.fault);
    }
  }
  for (size_t i = 0; i < series.histograms; ++i) {
    if (!points->BeginItem()) return;
    points->Refuse("native histograms cannot be stored");
  }
}

/// The cost of parsing a series in steps, without its samples, which are counted separately.
constexpr uint64_t kStepsPerParsed = 16;

/// Adds the headers with the counts that remote write 2.0 requires.
void AddWritten(uint64_t samples, ResponseWriter& out) {
  out.AddHeader("X-Prometheus-Remote-Write-Samples-Written", std::to_string(samples));
  out.AddHeader("X-Prometheus-Remote-Write-Histograms-Written", "0");
  out.AddHeader("X-Prometheus-Remote-Write-Exemplars-Written", "0");
}

}  // namespace

void HandleRemoteWrite(const Request& request, Services& services, ResponseWriter& out) {
  const uint64_t bytes_max = services.options.body_bytes_max;
  const std::optional<SnappyBody> body =
      RequireSnappyBody(request, {kWriteRequest1, kWriteRequest2}, bytes_max, out);
  if (!body) return;
  LabelledPoints points(services, *request.running, request.writer.get(), request.memory);
  std::vector<Label> labels;
  // When the request is cancelled, its rest is not read.
  Status ended;
  const auto add = [&](const WrittenSeries& series) {
    AddSeries(series, &labels, &points);
    return ended = request.running->Step(kStepsPerParsed);
  };
  // The descriptions of a cancelled request are dropped.
  const auto describe = [&](const MetricDescription& description) {
    if (request.running->Step(ClientNotes::kStepsToDescribe).ok())
      services.notes.Describe(description);
  };
  const bool counted = body->message == kWriteRequest2;
  // The limit for the labels of all series is the maximum size of a 1.0 body, because a 1.0 body
  // repeats the labels of each series.
  const Status read = counted
                          ? ReadWriteRequest2(body->bytes, bytes_max, add, describe, request.memory)
                          : ReadWriteRequest(body->bytes, add, describe, request.memory);
  const Status stored = read.ok() ? points.Finish() : ended;
  if (counted) AddWritten(points.stored(), out);
  if (!read.ok() && ended.ok()) return SendStatus(out, request, read);
  if (!stored.ok()) return SendWriteRefusal(out, request, stored);
  if (points.refused() == 0) return SendEmpty(out, 204);
  SendError(out, request, 400,
            std::to_string(points.refused()) + " of " + std::to_string(points.items()) +
                " samples cannot be stored, the others are; the first: " + points.first_refusal());
}

}  // namespace hg::http
