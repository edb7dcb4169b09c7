#pragma once
// Ensures that only one thread at a time creates a given series.

#include <condition_variable>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "storage/model/point_sink.h"

namespace hg::tsd {

/// Ensures that no two threads create the same series at the same time. The object is thread-safe,
/// and must outlive its turns.
class SeriesTurns {
 public:
  /// The right of a thread to create a series. A thread constructs a Turn before it creates a
  /// series. While the Turn exists, other threads that construct a Turn for the same series wait.
  /// Thus a series is created and counted only once. A thread must not have two Turns. Exception:
  /// the key of a point consists of names, and the key of an annotation is a TSUID. So a point and
  /// an annotation of one series may both create the series.
  class Turn {
   public:
    Turn(SeriesTurns& all, const NamedPoint& point) : Turn(all, SeriesOf(point)) {}
    Turn(SeriesTurns& all, std::string series) : all_(all), series_(std::move(series)) {
      std::unique_lock lock(all_.mutex_);
      all_.ended_.wait(lock, [this] { return all_.series_.insert(series_).second; });
    }
    ~Turn() {
      {
        const std::lock_guard lock(all_.mutex_);
        all_.series_.erase(series_);
      }
      all_.ended_.notify_all();
    }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    /// Returns a key for a series: its metric, and its tags in the order of tag keys, separated by
    /// zero bytes. Names contain no zero bytes.
    static std::string SeriesOf(const NamedPoint& point) {
      std::set<std::pair<std::string_view, std::string_view>> tags;
      for (const TagText& tag : point.tags) tags.emplace(tag.key, tag.value);
      std::string series(point.metric);
      for (const auto& [key, value] : tags) {
        series.append(1, '\0').append(key).append(1, '\0').append(value);
      }
      return series;
    }

    SeriesTurns& all_;
    const std::string series_;
  };

 private:
  std::mutex mutex_;
  std::condition_variable ended_;
  std::set<std::string> series_;  // keys of the series that threads are creating; guarded by mutex_
};

}  // namespace hg::tsd
