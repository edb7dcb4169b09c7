#pragma once
// Which series matchers of labels select, split into what a scan decides and what is decided here,
// by the names of values.

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/label_names.h"
#include "query/promql/matcher.h"
#include "storage/base/work_watch.h"
#include "storage/points/points.h"

namespace hg::query {

/// One thread at a time (it remembers verdicts).
class LabelSelector {
 public:
  /// What no series can match selects nothing, and is no error. All that is passed outlives the
  /// selector.
  static Result<LabelSelector> Resolve(const promql::Matchers& matchers, Points& points,
                                       LabelNames* names, WorkWatch* watch);

  /// The metrics to scan, each with its text; in the order of their ids.
  [[nodiscard]] const std::map<Bytes, Bytes>& metrics() const { return metrics_; }
  /// What to ask of the scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// True if series that the scan gives must be asked about with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty(); }
  /// NotFound: an id without a name.
  Result<bool> Admits(ByteView tsuid);

 private:
  struct Check {
    const promql::Matcher* matcher = nullptr;
    std::vector<Bytes> tagks;     // one of them, or none, is a series'
    bool of_default_tag = false;  // which is not the label of a series that has no other
    std::unordered_map<Bytes, bool> verdicts;  // by id of the value
  };

  LabelSelector(LabelNames* names, WorkWatch* watch) : names_(names), watch_(watch) {}
  Status Add(const promql::Matcher& matcher);
  Status FindMetrics(const promql::Matchers& matchers, Points& points);
  Status AddMetric(ByteView id, const std::vector<const promql::Matcher*>& conditions);

  LabelNames* names_;
  WorkWatch* watch_;
  bool nothing_ = false;
  SeriesMatcher matcher_;
  std::vector<Check> checks_;
  std::map<Bytes, Bytes> metrics_;
};

}  // namespace hg::query
