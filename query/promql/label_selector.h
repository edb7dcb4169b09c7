#pragma once
// Selects series by label matchers. The storage scan evaluates some of the matchers. LabelSelector
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

/// The resolved label matchers of one PromQL selector. The object caches results and is therefore
/// not thread-safe.
class LabelSelector {
 public:
  /// Resolves label matchers. If no series can match, this is not an error, but the selector then
  /// selects nothing. All arguments must outlive the selector.
  static Result<LabelSelector> Resolve(const promql::Matchers& matchers, Points& points,
                                       LabelNames* names, RequestContext* watch);

  /// Returns the metrics to scan: a map from the UID of a metric to the name that users see.
  [[nodiscard]] const std::map<Bytes, Bytes>& metrics() const { return metrics_; }
  /// Returns the condition on series that the caller must pass to the scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// Returns true if the scan cannot evaluate all matchers. In this case, the caller must check
  /// each scanned series with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty(); }
  /// Returns whether the matchers accept a series that the scan returned. Charges the work and the
  /// cached results to the request context. NotFound: a UID has no name. Also returns the errors of
  /// Matcher::Admits and of the request context.
  Result<bool> Admits(ByteView tsuid);

 private:
  /// Those matchers of one label that LabelSelector must evaluate. The object also caches, for each
  /// value of the label, whether all these matchers accept it.
  struct Check {
    std::vector<const promql::Matcher*> matchers;
    /// UIDs of the tag keys under which the label may be stored; a series has at most one of them.
    std::vector<Bytes> tagks;
    // Whether the label may be stored under the default tag key. A series whose only tag is the
    // default tag has no labels.
    bool of_default_tag = false;
    /// For the UID of each tag value that was checked, whether the matchers accept the value.
    std::unordered_map<Bytes, bool> verdicts;
  };

  LabelSelector(LabelNames* names, RequestContext* watch)
      : names_(names), watch_(watch), memory_(std::make_unique<MemoryTally>(watch)) {}
  /// Combines the clauses in matcher_ so that each tag key has only one clause.
  void MergeClauses();
  /// Computes whether all matchers of `check` accept a value. `value` is the UID of a tag value; ""
  /// means that the series does not have the label.
  Result<bool> Decide(const Check& check, ByteView value);
  Status Add(const promql::Matcher& matcher);
  Status FindMetrics(const promql::Matchers& matchers, Points& points);
  /// Removes metrics from metrics_ whose underscored name is equal to the original name of another
  /// metric in metrics_.
  Status HideRenamed();
  Status AddMetric(ByteView id, const std::vector<const promql::Matcher*>& conditions);

  LabelNames* names_;
  RequestContext* watch_;
  std::unique_ptr<MemoryTally> memory_;
  bool nothing_ = false;
  SeriesMatcher matcher_;
  std::vector<Check> checks_;
  std::map<std::string, size_t> check_of_;  // for each label, the index of its element in checks_
  std::map<Bytes, Bytes> metrics_;
};

}  // namespace hg::query
