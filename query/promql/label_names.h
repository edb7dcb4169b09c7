#pragma once
// Converts stored series to the form of Prometheus: labels instead of a metric and tags. If clients
// write in protocols other than OpenTSDB's, the server escapes names, and adds a default tag to
// series without labels (docs/ingestion.md). The class LabelNames removes the escapes and hides the
// default tag.

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/promql/labels.h"
#include "query/series/name_memo.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/escaped_name.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// The settings by which names are converted if points arrive in protocols other than OpenTSDB's.
/// LabelNames also finds names that were stored under earlier values of these settings.
struct LabelNaming {
  // UTF-8 characters that names may have in addition to the characters that are always allowed.
  std::string extra_name_characters;
  std::string default_tag_key = "source", default_tag_value = "unknown";
  /// Whether users see UnderscoredName of each metric name instead of the name itself
  /// (tsd.prometheus.underscore_names).
  bool underscored_metrics = false;
};

/// Returns the name in a form that PromQL can write without quotes. `name` is UTF-8. ASCII letters,
/// `_`, `:`, and digits after the first character stay; each other character is replaced by `_`.
std::string UnderscoredName(std::string_view name);

/// Calls `visit` for all stored names that begin with `prefix`. If the prefix is empty, this
/// includes names that do not begin with an ASCII character, which Names::ForEach omits. `context`
/// has the same meaning as in Names::ForEach. `visit` returns false to end the iteration.
Status ForEachName(uid::Names& names, UidKind kind, const std::string& prefix,
                   RequestContext* context, const uid::Names::NameVisitor& visit);

/// Returns true if `text` (UTF-8) may have been stored with some of its special characters escaped
/// and others not. This happens if an earlier setting allowed only some of these characters.
/// LabelNames::IdsOf does not find names that were stored in this way.
bool MayBeHalfEscaped(std::string_view text);

/// Converts between stored names and the names that users see. Not thread-safe.
class LabelNames {
 public:
  /// `layout`, `names` and `all` must outlive the object. `all` is the store of all names. If `all`
  /// is nullptr, a metric is found only by the name that the client sent, and not by
  /// UnderscoredName of this name.
  LabelNames(const LabelNaming& naming, const KeyLayout& layout, NameMemo* names,
             uid::Names* all = nullptr);

  /// Returns the UIDs of the names under which a text may be stored, in ascending order. The text
  /// may be stored escaped by the current rules, escaped by the default rules, or unescaped. An
  /// empty result means that no stored name has this text.
  Result<std::vector<Bytes>> IdsOf(UidKind kind, std::string_view text);
  /// Returns the UIDs of the names under which any of the texts may be stored, in ascending order.
  /// If no metric is stored under a text, but UnderscoredName of some metrics gives this text, the
  /// UIDs of these metrics are included. Busy: there are many texts or names, and this thread is an
  /// event loop (RequestContext::MayWait). Also returns the errors of `watch`.
  Result<std::vector<Bytes>> IdsOfAll(UidKind kind, std::span<const std::string> texts,
                                      RequestContext* watch);
  /// Returns the name that a client sent, for a UID. The function decodes the escapes in the stored
  /// name. NotFound: the UID has no name.
  Result<std::string> SentText(UidKind kind, ByteView id);
  /// Returns the name of a UID as users see it. It may differ from SentText only for metrics
  /// (LabelNaming::underscored_metrics). NotFound: the UID has no name.
  Result<std::string> TextOf(UidKind kind, ByteView id);
  /// Returns the name that a client sent, for the stored form of the name. The function decodes the
  /// escapes in `stored`.
  [[nodiscard]] std::string TextOfName(UidKind kind, const std::string& stored) const;
  /// Returns the name that users see, for a name that a client sent.
  [[nodiscard]] std::string Shown(UidKind kind, std::string sent) const;
  /// Returns all labels of a series, including the metric name. NotFound: a UID in the TSUID has no
  /// name.
  Result<promql::Labels> LabelsOf(ByteView tsuid);
  /// Returns whether the default tag is the only tag of the series. Users see no labels of this
  /// series except the metric name.
  Result<bool> IsUntagged(ByteView tsuid);

  [[nodiscard]] const LabelNaming& naming() const { return naming_; }
  [[nodiscard]] const KeyLayout& layout() const { return layout_; }

 private:
  Result<bool> Is(UidKind kind, ByteView id, std::string_view name);
  /// Adds to `ids` the UIDs of the metrics for which UnderscoredName of the sent name is one of
  /// `texts`.
  Status AddShownAs(const std::set<std::string, std::less<>>& texts, RequestContext* watch,
                    std::vector<Bytes>* ids);

  const LabelNaming naming_;
  const KeyLayout& layout_;
  NameMemo& names_;
  uid::Names* const all_;
  const NameRules rules_;
  /// Map from a stored tag key to the name of its label. Contains only the tag keys whose label
  /// name is not simply the decoded tag key.
  const std::map<std::string, std::string> special_keys_;
};

}  // namespace hg::query
