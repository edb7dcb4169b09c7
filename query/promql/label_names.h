#pragma once
// Shows stored series as Prometheus does: with labels instead of a metric and tags. If clients
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

/// The settings for the conversion of names when points arrive in protocols other than OpenTSDB's.
/// LabelNames also finds names that were stored under earlier values of these settings.
struct LabelNaming {
  // UTF-8 characters that names may have in addition to the characters that are always allowed.
  std::string extra_name_characters;
  std::string default_tag_key = "source", default_tag_value = "unknown";
  /// Whether users see metrics under their UnderscoredName (tsd.prometheus.underscore_names).
  bool underscored_metrics = false;
};

/// Returns the name (UTF-8) in a form that PromQL can write without quotes. ASCII letters, `_`,
/// `:`, and digits after the first character stay; each other character is replaced by `_`.
std::string UnderscoredName(std::string_view name);

/// Visits all stored names that begin with the prefix. If the prefix is empty, this includes names
/// that do not begin with an ASCII character, which Names::ForEach omits. `context` has the same
/// meaning as in Names::ForEach. `visit` returns false to end the iteration.
Status ForEachName(uid::Names& names, UidKind kind, const std::string& prefix,
                   RequestContext* context, const uid::Names::NameVisitor& visit);

/// Returns true if `text` (UTF-8) may have been stored under an earlier setting with some of its
/// special characters escaped and others unescaped. A lookup of `text` may miss series that were
/// stored in this way.
bool MayBeHalfEscaped(std::string_view text);

/// Converts between stored names and the names that users see. The object is not thread-safe.
class LabelNames {
 public:
  /// The layout, the memo and `all` must outlive the object. `all` contains all names. If `all` is
  /// nullptr, a metric is found only by its stored name, not by the name that users see.
  LabelNames(const LabelNaming& naming, const KeyLayout& layout, NameMemo* names,
             uid::Names* all = nullptr);

  /// Returns the sorted ids of the names under which a text may be stored: escaped by the current
  /// rules, escaped by the default rules, or unescaped. An empty result means that no series has
  /// the text as a name.
  Result<std::vector<Bytes>> IdsOf(UidKind kind, std::string_view text);
  /// Returns the ids of the names under which any of the texts may be stored. If no metric is
  /// stored under a text, but users see some metrics under this text, returns the ids of these
  /// metrics. Also fails if `watch` reports an error.
  Result<std::vector<Bytes>> IdsOfAll(UidKind kind, std::span<const std::string> texts,
                                      RequestContext* watch);
  /// Returns the name that a client sent for an id. The function decodes the escapes in the stored
  /// name. NotFound: the id has no name.
  Result<std::string> SentText(UidKind kind, ByteView id);
  /// Returns the name of an id as users see it. This name may differ from SentText only for metrics
  /// (LabelNaming::underscored_metrics). NotFound: the id has no name.
  Result<std::string> TextOf(UidKind kind, ByteView id);
  /// Returns the text that a client sent for a stored name. The function decodes the escapes in the
  /// stored name.
  [[nodiscard]] std::string TextOfName(UidKind kind, const std::string& stored) const;
  /// Returns the name that users see for a name that a client sent.
  [[nodiscard]] std::string Shown(UidKind kind, std::string sent) const;
  /// Returns all labels of a series, including the metric name. NotFound: an id has no name.
  Result<promql::Labels> LabelsOf(ByteView tsuid);
  /// Returns whether the default tag is the only tag of the series. Such a series has no labels.
  Result<bool> IsUntagged(ByteView tsuid);

  [[nodiscard]] const LabelNaming& naming() const { return naming_; }
  [[nodiscard]] const KeyLayout& layout() const { return layout_; }

 private:
  Result<bool> Is(UidKind kind, ByteView id, std::string_view name);
  /// Adds to `ids` the ids of the metrics that users see under one of the names (UnderscoredName)
  /// in `texts`.
  Status AddShownAs(const std::set<std::string, std::less<>>& texts, RequestContext* watch,
                    std::vector<Bytes>* ids);

  const LabelNaming naming_;
  const KeyLayout& layout_;
  NameMemo& names_;
  uid::Names* const all_;
  const NameRules rules_;
  /// Map from a stored tag key to the name of its label, for keys whose label has a different name.
  const std::map<std::string, std::string> special_keys_;
};

}  // namespace hg::query
