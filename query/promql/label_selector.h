#pragma once
// Selects series by label matchers. The storage scan evaluates some of the matchers. LabelSelector
// evaluates the others, with the names of tag values.

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

/// The label matchers of one selector. The object is not thread-safe, because it caches results.
class LabelSelector {
 public:
  /// Makes a selector from label matchers. If no series can match, this is not an error; the
  /// selector then selects nothing. All arguments must outlive the selector.
  static Result<LabelSelector> Resolve(const promql::Matchers& matchers, Points& points,
                                       LabelNames* names, RequestContext* watch);

  /// Returns the ids and names of the metrics to scan, in the order of the ids.
  [[nodiscard]] const std::map<Bytes, Bytes>& metrics() const { return metrics_; }
  /// Returns the condition on series that the caller must pass to the scan.
  [[nodiscard]] const SeriesMatcher& matcher() const { return matcher_; }
  /// Returns true if the scan cannot evaluate all matchers. In this case, the caller must check
  /// each scanned series with Admits.
  [[nodiscard]] bool decides() const { return !checks_.empty(); }
  /// Returns whether the matchers accept a series that the scan returned. Charges the work and the
  /// cached results to the request context. NotFound: an id has no name. Also returns the errors of
  /// Matcher::Admits and of the request context.
  Result<bool> Admits(ByteView tsuid);

 private:
  /// The matchers of one label that LabelSelector must evaluate, in their order. Caches results:
  /// for each value of the label, whether all these matchers accept it.
  struct Check {
    std::vector<const promql::Matcher*> matchers;
    std::vector<Bytes> tagks;  // ids of the label's possible tag keys; a series has at most one
    // Whether the label may be stored under the default tag key. A series whose only tag is the
    // default tag has no labels.
    bool of_default_tag = false;
    /// Cached results by the id of a tag value: true = the matchers accept it.
    std::unordered_map<Bytes, bool> verdicts;
  };

  LabelSelector(LabelNames* names, RequestContext* watch)
      : names_(names), watch_(watch), memory_(std::make_unique<MemoryTally>(watch)) {}
  /// Combines all clauses in matcher_ that have the same tag key into one clause.
  void MergeClauses();
  /// Computes whether the matchers of a label accept a value. The value "" means that the series
  /// lacks the label.
  Result<bool> Decide(const Check& check, ByteView value);
  Status Add(const promql::Matcher& matcher);
  Status FindMetrics(const promql::Matchers& matchers, Points& points);
  /// Removes the metrics whose shown name is the stored name of another metric in metrics_.
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
