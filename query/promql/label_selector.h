#pragma once
// Selects series by label matchers. Some matchers become conditions of the scan. LabelSelector
// evaluates the other matchers with the names of tag values.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "query/promql/label_names.h"
#include "query/promql/matcher.h"
#include "storage/base/request_context.h"
#include "storage/points/points.h"

namespace hg::query {

/// Not thread-safe, because it caches results.
class LabelSelector {
 public:
  /// Resolves the matchers. It is no error if no series can match; the selector then selects
  /// nothing. All arguments must outlive the selector.
  static Result<LabelSelector> Resolve(const promql::Matchers& matchers, Points& points,
                                       LabelNames* names, RequestContext* watch);

  /// Returns the ids and names of the metrics to scan, in the order of the ids.
  [[nodiscard]] const std::map<Bytes, Bytes>& metrics() const { return metrics_; }
  /// Returns the condition on series with which the caller must scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// Returns true if the scan cannot evaluate all matchers. The caller must then check each scanned
  /// series with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty(); }
  /// Returns whether the matchers admit a series of the scan. Reports the work to the request
  /// context, and charges cached results to it. NotFound: an id has no name. Also fails with errors
  /// of Matcher::Admits and of the request context.
  Result<bool> Admits(ByteView tsuid);

 private:
  /// The matchers of one label that compare texts, in their order, and the cached results: for each
  /// value, whether all these matchers admit it.
  struct Check {
    std::vector<const promql::Matcher*> matchers;
    std::vector<Bytes> tagks;  // ids of the label's possible tag keys; a series has at most one
    // Whether the label may be stored under the default tag key. If that is the only tag of a
    // series, the series has no labels.
    bool of_default_tag = false;
    std::unordered_map<Bytes, bool> verdicts;  // key: id of the tag value; value: the result
  };

  LabelSelector(LabelNames* names, RequestContext* watch)
      : names_(names), watch_(watch), memory_(std::make_unique<MemoryTally>(watch)) {}
  /// Merges all clauses in matcher_ that have the same tag key into one clause.
  void MergeClauses();
  /// Computes whether the matchers admit a value; "" means that the series lacks the label.
  Result<bool> Decide(const Check& check, ByteView value);
  Status Add(const promql::Matcher& matcher);
  Status FindMetrics(const promql::Matchers& matchers, Points& points);
  /// Removes each metric that is shown under a name that another metric in metrics_ really has.
  Status HideRenamed();
  Status AddMetric(ByteView id, const std::vector<const promql::Matcher*>& conditions);

  LabelNames* names_;
  RequestContext* watch_;
  std::unique_ptr<MemoryTally> memory_;
  bool nothing_ = false;
  SeriesMatcher matcher_;
  std::vector<Check> checks_;
  std::map<std::string, size_t> check_of_;  // key: label; value: index in checks_
  std::map<Bytes, Bytes> metrics_;
};

}  // namespace hg::query
