#pragma once
// Series under Prometheus names: labels instead of a metric and tags. Writes in protocols other
// than OpenTSDB's escape names, and get a default tag if a series has no labels
// (docs/ingestion.md). This class reverses both: it removes the escapes and hides the default tag.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/name_memo.h"
#include "query/promql/labels.h"
#include "storage/base/request_context.h"
#include "storage/base/status.h"
#include "storage/model/escaped_name.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// The settings by which writes in protocols other than OpenTSDB's convert names. Names that were
/// stored under earlier settings are found as well.
struct LabelNaming {
  // UTF-8 characters that names may have in addition to the default ones.
  std::string extra_name_characters;
  std::string default_tag_key = "source", default_tag_value = "unknown";
};

/// Returns true if some earlier setting may have stored `text` (UTF-8) with some of its special
/// characters escaped and others unescaped. A lookup of the text may then miss the series.
bool MayBeHalfEscaped(std::string_view text);

/// Not thread-safe.
class LabelNames {
 public:
  /// The layout and the memo must outlive the object.
  LabelNames(const LabelNaming& naming, const KeyLayout& layout, NameMemo* names);

  /// Returns the sorted ids under which a text may be stored: escaped by the current rules, escaped
  /// by the default rules, or unescaped. If the result is empty, no series has the text.
  Result<std::vector<Bytes>> IdsOf(UidKind kind, std::string_view text);
  /// Returns the ids under which any of the texts may be stored, as IdsOf does. Also fails with
  /// errors of `watch`.
  Result<std::vector<Bytes>> IdsOfAll(UidKind kind, std::span<const std::string> texts,
                                      RequestContext* watch);
  /// Returns the text of an id without escapes. NotFound: the id has no name.
  Result<std::string> TextOf(UidKind kind, ByteView id);
  /// Returns all labels of a series, including the metric name. NotFound: an id has no name.
  Result<promql::Labels> LabelsOf(ByteView tsuid);
  /// Returns whether the series' only tag is the default tag, so the series has no labels.
  Result<bool> IsUntagged(ByteView tsuid);

  [[nodiscard]] const LabelNaming& naming() const { return naming_; }
  [[nodiscard]] const KeyLayout& layout() const { return layout_; }

 private:
  /// Returns whether a label with this name may be stored under another tag key (MarkedName).
  [[nodiscard]] bool MayBeMarked(std::string_view key) const;
  Result<bool> Is(UidKind kind, ByteView id, std::string_view name);

  const LabelNaming naming_;
  const KeyLayout& layout_;
  NameMemo& names_;
  const NameRules rules_;
};

}  // namespace hg::query
