#pragma once
// Points of series that are named by labels (remote write, OTLP) on their way to the store: known
// series at one look-up a point, new ones by their names. What can be stored is stored, whatever
// stands beside it.

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "http/services.h"
#include "http/wire/series_labels.h"
#include "storage/model/one_request.h"
#include "storage/model/point_sink.h"

namespace hg::http {

/// One request's. One thread; blocks: for pool threads.
class LabelledPoints : public LabelledSink {
 public:
  explicit LabelledPoints(Services& services) : services_(services) {}

  void SetSeries(std::string_view metric, std::span<const Label> labels) override;
  void BeginItem() override { ++items_; }
  /// A NaN says that there is no value: it is left out. An infinity, and a time that no point can
  /// have, refuse the item.
  void Add(int64_t time_ms, PointValue value) override;
  void Refuse(std::string_view reason) override;

  /// Stores what was added, and waits for the log. Not ok: the store takes nothing now (Busy,
  /// Unavailable), a limit of a rate was met (LimitExceeded), or the log failed; the request may be
  /// sent again as it was. What another try would not store either is refused.
  Status Finish();

  // What became of it, after Finish.
  [[nodiscard]] uint64_t items() const { return items_; }
  [[nodiscard]] uint64_t refused() const { return refused_; }
  /// Of the first item that was refused: its series, and why.
  [[nodiscard]] const std::string& first_refusal() const { return first_refusal_; }

 private:
  struct SeriesBytes {
    std::string all;  // metric, labels as spelled
    size_t metric_size;

    [[nodiscard]] std::string_view metric() const { return {all.data(), metric_size}; }
    [[nodiscard]] ByteView labels() const { return ByteView(all).substr(metric_size); }
    [[nodiscard]] size_t size() const { return all.size(); }
  };

  void Flush();
  /// One point after the other, by name.
  void StoreNamed();
  void Judge(size_t point, const Status& verdict);
  void RefuseItem(uint64_t item, std::string_view metric, ByteView labels, std::string_view reason);
  /// The store refused: nothing more is tried.
  void Fail(const Status& status);

  Services& services_;
  OneRequest all_batches_{OneRequest::Metrics::kAskedOnce};
  std::optional<NamingRules> rules_;  // once a name must be made
  std::deque<SeriesBytes> series_;    // of points_ and of what follows
  size_t series_bytes_ = 0;
  bool borrowed_ = false;  // by points_, the last one
  std::vector<SpelledPoint> points_;
  std::vector<uint64_t> item_of_;  // beside points_, counted from 1
  PointSink::Position position_ = 0;
  Status failure_;
  uint64_t items_ = 0, refused_ = 0;
  std::vector<bool> item_refused_;
  std::string first_refusal_;
};

}  // namespace hg::http
