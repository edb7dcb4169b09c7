#pragma once
// Series as Prometheus names them: labels instead of a metric and tags. The way back from what the
// writers of other languages made of them (docs/languages.md): names are read without their
// escapes, and the tag that series without labels were given is none.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "query/name_memo.h"
#include "query/promql/labels.h"
#include "storage/base/status.h"
#include "storage/base/work_watch.h"
#include "storage/model/escaped_name.h"
#include "storage/model/key_layout.h"

namespace hg::query {

/// How series of other languages were named when they were written. Names that were stored under
/// other rules are found as they are.
struct LabelNaming {
  std::string extra_name_characters;  // beyond those that every name may have, UTF-8
  std::string default_tag_key = "source", default_tag_value = "unknown";
};

/// True if there may be rules under which some of its characters would be stored escaped and others
/// as they are: a series is then not surely found by looking the text up. UTF-8.
bool MayBeHalfEscaped(std::string_view text);

/// One thread at a time.
class LabelNames {
 public:
  /// The layout and the memo outlive the object.
  LabelNames(const LabelNaming& naming, const KeyLayout& layout, NameMemo* names);

  /// The ids under which a text may be stored: escaped under these rules or others, or as it is.
  /// Sorted; none: no series has it.
  Result<std::vector<Bytes>> IdsOf(UidKind kind, std::string_view text);
  /// The same of any of these texts; also fails as the watch does.
  Result<std::vector<Bytes>> IdsOfAll(UidKind kind, std::span<const std::string> texts,
                                      WorkWatch* watch);
  /// The text of an id. NotFound: it has no name.
  Result<std::string> TextOf(UidKind kind, ByteView id);
  /// All labels of a series, the metric's name among them. NotFound: an id without a name.
  Result<promql::Labels> LabelsOf(ByteView tsuid);
  /// Whether its only tag is the one that stands for none.
  Result<bool> IsUntagged(ByteView tsuid);

  [[nodiscard]] const LabelNaming& naming() const { return naming_; }
  [[nodiscard]] const KeyLayout& layout() const { return layout_; }

 private:
  /// Whether writers may have stored a label of this name under its MarkedName.
  [[nodiscard]] bool MayBeMarked(std::string_view key) const;
  Result<bool> Is(UidKind kind, ByteView id, std::string_view name);

  const LabelNaming naming_;
  const KeyLayout& layout_;
  NameMemo& names_;
  const NameRules rules_;
};

}  // namespace hg::query
