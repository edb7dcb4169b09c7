#pragma once
// Selects series by label matchers. Some matchers become conditions of the scan. The other matchers
// are evaluated here, with the names of tag values.

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

/// Not thread-safe, because it caches verdicts.
class LabelSelector {
 public:
  /// Resolves the matchers. If no series can match, the selector selects nothing; this is no error.
  /// All arguments must outlive the selector.
  static Result<LabelSelector> Resolve(const promql::Matchers& matchers, Points& points,
                                       LabelNames* names, RequestContext* watch);

  /// Returns the metrics to scan, each with its name, in the order of their ids.
  [[nodiscard]] const std::map<Bytes, Bytes>& metrics() const { return metrics_; }
  /// The condition to pass to the scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// Returns true if the scan cannot evaluate all matchers. The caller must then check each scanned
  /// series with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty(); }
  /// Returns whether the matchers admit a series of the scan. Reports the work to the request
  /// context and charges cached verdicts to it. NotFound: an id has no name. Also fails with errors
  /// of Matcher::Admits and of the request context.
  Result<bool> Admits(ByteView tsuid);

 private:
  /// The matchers of one label that compare texts, in their order, and their joint verdict for each
  /// value that was checked so far.
  struct Check {
    std::vector<const promql::Matcher*> matchers;
    std::vector<Bytes> tagks;  // ids of the label's tag key; a series has at most one of them
    // The label may be stored under the default tag key. If that is the only tag of a series, the
    // series has no labels.
    bool of_default_tag = false;
    std::unordered_map<Bytes, bool> verdicts;  // by tag value id
  };

  LabelSelector(LabelNames* names, RequestContext* watch)
      : names_(names), watch_(watch), memory_(std::make_unique<MemoryTally>(watch)) {}
  /// Merges the clauses of each tag key in matcher_ into one clause.
  void MergeClauses();
  /// Computes the verdict for a value that is not cached; "" means that the series lacks the label.
  Result<bool> Decide(const Check& check, ByteView value);
  Status Add(const promql::Matcher& matcher);
  Status FindMetrics(const promql::Matchers& matchers, Points& points);
  /// Removes each metric that is shown under a name that another metric of metrics_ really has.
  Status HideRenamed();
  Status AddMetric(ByteView id, const std::vector<const promql::Matcher*>& conditions);

  LabelNames* names_;
  RequestContext* watch_;
  std::unique_ptr<MemoryTally> memory_;
  bool nothing_ = false;
  SeriesMatcher matcher_;
  std::vector<Check> checks_;
  std::map<std::string, size_t> check_of_;  // label → index in checks_
  std::map<Bytes, Bytes> metrics_;
};

}  // namespace hg::query
