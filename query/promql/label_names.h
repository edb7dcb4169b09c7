#pragma once
// Shows stored series as Prometheus does: with labels instead of a metric and tags. When clients
// write in protocols other than OpenTSDB's, names are escaped, and series without labels get a
// default tag (docs/ingestion.md). This class removes the escapes and hides the default tag.

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

/// The settings by which names are converted for writes in protocols other than OpenTSDB's.
/// LabelNames also finds names that were stored under earlier settings.
struct LabelNaming {
  // UTF-8 characters that names may have in addition to the default ones.
  std::string extra_name_characters;
  std::string default_tag_key = "source", default_tag_value = "unknown";
  /// If true, metrics are shown under their UnderscoredName (tsd.prometheus.underscore_names).
  bool underscored_metrics = false;
};

/// Returns the name (UTF-8) with `_` in place of each character that a metric name in PromQL may
/// have only in quotes: all except ASCII letters, `_`, `:`, and digits after the first
/// character.
std::string UnderscoredName(std::string_view name);

/// Visits all stored names with the prefix. For an empty prefix, this includes names that do not
/// begin with an ASCII character, which Names::ForEach omits. `context` has the same meaning as in
/// Names::ForEach. `visit` returns false to end the iteration.
Status ForEachName(uid::Names& names, UidKind kind, const std::string& prefix,
                   RequestContext* context, const uid::Names::NameVisitor& visit);

/// Returns true if some earlier setting may have stored `text` (UTF-8) with some of its special
/// characters escaped and others unescaped. A lookup of the text may then miss the series.
bool MayBeHalfEscaped(std::string_view text);

/// Not thread-safe.
class LabelNames {
 public:
  /// The layout, the memo and `all` must outlive the object. `all` has all names. If `all` is
  /// nullptr, a metric is found only by its stored name, not by the name under which it is shown.
  LabelNames(const LabelNaming& naming, const KeyLayout& layout, NameMemo* names,
             uid::Names* all = nullptr);

  /// Returns the sorted ids under which a text may be stored: escaped by the current rules, escaped
  /// by the default rules, or unescaped. An empty result means that no series has the text.
  Result<std::vector<Bytes>> IdsOf(UidKind kind, std::string_view text);
  /// Returns the ids under which any of the texts may be stored. If no metric has a text as its
  /// name, but some metrics are shown under this text, returns the ids of these metrics. Also fails
  /// with errors of `watch`.
  Result<std::vector<Bytes>> IdsOfAll(UidKind kind, std::span<const std::string> texts,
                                      RequestContext* watch);
  /// Returns the name of an id as the client sent it, unescaped. NotFound: the id has no name.
  Result<std::string> SentText(UidKind kind, ByteView id);
  /// Returns the name of an id as it is shown to users. Only for metrics may it differ from
  /// SentText (LabelNaming::underscored_metrics). NotFound: the id has no name.
  Result<std::string> TextOf(UidKind kind, ByteView id);
  /// Returns the text that a client sent for a stored name: the name without escapes.
  [[nodiscard]] std::string TextOfName(UidKind kind, const std::string& stored) const;
  /// Returns the text that is shown to users for a text that a client sent.
  [[nodiscard]] std::string Shown(UidKind kind, std::string sent) const;
  /// Returns all labels of a series, including the metric name. NotFound: an id has no name.
  Result<promql::Labels> LabelsOf(ByteView tsuid);
  /// Returns whether the default tag is the only tag of the series, so that it has no labels.
  Result<bool> IsUntagged(ByteView tsuid);

  [[nodiscard]] const LabelNaming& naming() const { return naming_; }
  [[nodiscard]] const KeyLayout& layout() const { return layout_; }

 private:
  Result<bool> Is(UidKind kind, ByteView id, std::string_view name);
  /// Adds to `ids` the ids of the metrics whose shown name (UnderscoredName) is in `texts`.
  Status AddShownAs(const std::set<std::string, std::less<>>& texts, RequestContext* watch,
                    std::vector<Bytes>* ids);

  const LabelNaming naming_;
  const KeyLayout& layout_;
  NameMemo& names_;
  uid::Names* const all_;
  const NameRules rules_;
  /// Key: a stored tag key whose label has a different name; value: the name of that label.
  const std::map<std::string, std::string> special_keys_;
};

}  // namespace hg::query
