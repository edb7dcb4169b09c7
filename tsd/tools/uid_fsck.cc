#include "tsd/tools/uid_fsck.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "storage/for_each_row.h"
#include "storage/model/name_text.h"
#include "storage/model/uid_kind.h"
#include "tsd/log.h"
#include "tsd/tools/cell_text.h"
#include "tsd/tools/names_first.h"

namespace hg::tsd {
namespace {

bool IsMetadata(ByteView qualifier) {
  constexpr std::string_view kQualifiers[] = {"ts_meta", "ts_ctr", "metric_meta", "tagk_meta",
                                              "tagv_meta"};
  return std::find(std::begin(kQualifiers), std::end(kQualifiers), qualifier) !=
         std::end(kQualifiers);
}

std::optional<UidKind> KindOf(ByteView qualifier) {
  for (UidKind kind : kUidKinds)
    if (UidKindName(kind) == qualifier) return kind;
  return std::nullopt;
}

/// Checks the mappings of one kind.
class KindCheck {
 public:
  KindCheck(Session& session, UidKind kind, bool fix)
      : session_(session), kind_(kind), word_(UidKindName(kind)), fix_(fix) {}

  void AddCounter(ByteView value) {
    if (value.size() != 8) {
      Error("the counter is not on 8 bytes: " + ByteListText(value));
      counter_damaged_ = true;
      return;
    }
    counter_ = static_cast<int64_t>(ReadBig64(value.data()));
  }

  void AddForward(const Bytes& name, const Bytes& id) {
    CheckWidth(id, "name " + FromLatin1(name));
    forward_[name] = id;
    Raise(id);
  }

  void AddReverse(const Bytes& id, const Bytes& name) {
    CheckWidth(id, "id " + ByteListText(id));
    reverse_[id] = name;
  }

  Status Check() {
    RETURN_IF_ERROR(CheckForward());
    RETURN_IF_ERROR(CheckReverse());
    RETURN_IF_ERROR(CheckCounter());
    if (errors_ > 0)
      LogWarning("", word_ + ": Found " + std::to_string(errors_) +
                         (errors_ == 1 ? " error." : " errors."));
    return {};
  }

  [[nodiscard]] uint64_t errors() const { return errors_; }

 private:
  void Error(const std::string& what) {
    ++errors_;
    LogError("", word_ + ": " + what);
  }

  void Raise(ByteView id) {
    if (id.size() <= 8)
      largest_ = std::max(largest_, ReadBig(id.data(), static_cast<int>(id.size())));
  }

  /// Checks the width of an id. The first id of a kind defines the width.
  void CheckWidth(ByteView id, const std::string& where) {
    if (width_ == 0) width_ = id.size();
    if (id.size() != width_)
      Error("an id of " + std::to_string(id.size()) + " bytes instead of " +
            std::to_string(width_) + ": " + where);
  }

  Status CheckForward() {
    std::map<Bytes, std::set<Bytes>> names;  // by id
    for (const auto& [name, id] : forward_) names[id].insert(name);
    const std::map<Bytes, Bytes> forward = forward_;  // a copy, because repairs change the member
    for (const auto& [name, id] : forward) {
      const auto back = reverse_.find(id);
      const std::string mapping = FromLatin1(name) + " -> " + ByteListText(id);
      if (back == reverse_.end()) {
        Error("forward mapping without reverse mapping: " + mapping);
        RETURN_IF_ERROR(PutReverse(id, name));
      } else if (back->second != name) {
        RETURN_IF_ERROR(SettleDisagreement(name, id, names[id]));
      }
    }
    return {};
  }

  /// Handles `name` -> `id` if the id maps to another name.
  Status SettleDisagreement(const Bytes& name, const Bytes& id, const std::set<Bytes>& names) {
    const Bytes other = reverse_.at(id);
    const std::string mapping =
        FromLatin1(name) + " -> " + ByteListText(id) + " -> " + FromLatin1(other);
    // The error counts twice, for the name and for the id.
    errors_ += 1;
    Error("the reverse mapping differs from the forward one: " + mapping);
    if (names.size() == 1) return PutReverse(id, name);
    return JoinNames(id, names);
  }

  /// Handles several names with one id. It is unknown to which name the points with this id belong.
  /// So the id gets a new name that is composed of these names, and these names are deleted.
  Status JoinNames(const Bytes& id, const std::set<Bytes>& names) {
    Bytes joined = "fsck";
    for (const Bytes& name : names) joined += "." + name;
    if (!fix_) return {};
    for (const Bytes& name : names) {
      RETURN_IF_ERROR(Change(name, DeleteColumn("id", word_)));
      forward_.erase(name);
    }
    RETURN_IF_ERROR(Change(joined, PutCell("id", word_, id)));
    forward_[joined] = id;
    return PutReverse(id, joined);
  }

  Status CheckReverse() {
    const std::map<Bytes, Bytes> reverse = reverse_;
    for (const auto& [id, name] : reverse) {
      const std::string mapping = ByteListText(id) + " -> " + FromLatin1(name);
      const auto there = forward_.find(name);
      if (there == forward_.end()) {
        LogWarning("", word_ + ": reverse mapping without forward mapping: " + mapping);
        RETURN_IF_ERROR(DeleteReverse(id));
      } else if (there->second != id) {
        Error("the name has another id: " + mapping + " -> " + ByteListText(there->second));
        RETURN_IF_ERROR(DeleteReverse(id));
      }
    }
    return {};
  }

  /// Checks the counter. A counter above the number of entries is accepted even if it is below the
  /// largest id, as in OpenTSDB. Assignment skips ids that are taken.
  Status CheckCounter() {
    const auto entries = static_cast<int64_t>(std::max(forward_.size(), reverse_.size()));
    const auto largest = static_cast<int64_t>(largest_);
    if (counter_ > entries) {
      LogWarning("", word_ + ": the counter is " + std::to_string(counter_) + " for " +
                         std::to_string(entries) + " names: ids were deleted or lost");
      return {};
    }
    if (counter_ >= largest) return {};
    Error("the largest id is " + std::to_string(largest) + ", the counter only " +
          std::to_string(counter_));
    if (!fix_ || counter_damaged_) return {};
    return session_.cells()
        .Increment(session_.uid_table(), kCounterRow, "id", word_, largest - counter_)
        .status();
  }

  Status PutReverse(const Bytes& id, const Bytes& name) {
    if (!fix_) return {};
    reverse_[id] = name;
    return Change(id, PutCell("name", word_, name));
  }

  Status DeleteReverse(const Bytes& id) {
    if (!fix_) return {};
    const Bytes metadata = kind_ == UidKind::kMetric ? "metric_meta" : word_ + "_meta";
    RETURN_IF_ERROR(Change(id, DeleteColumn("name", word_)));
    return Change(id, DeleteColumn("name", metadata));
  }

  Status Change(const Bytes& row, CellChange change) {
    return session_.cells().Mutate(session_.uid_table(), {{row, {std::move(change)}}});
  }

  Session& session_;
  const UidKind kind_;
  const Bytes word_;
  const bool fix_;
  std::map<Bytes, Bytes> forward_;  // name -> id
  std::map<Bytes, Bytes> reverse_;  // id -> name
  int64_t counter_ = 0;
  bool counter_damaged_ = false;
  uint64_t largest_ = 0;
  size_t width_ = 0;  // 0 = no id read yet
  uint64_t errors_ = 0;
};

}  // namespace

Result<uint64_t> RunUidFsck(Session& session, const UidFsckOptions& options) {
  std::map<UidKind, KindCheck> checks;
  for (UidKind kind : kUidKinds) checks.try_emplace(kind, session, kind, options.fix);

  ScanSpec spec;
  spec.table = session.uid_table();
  std::vector<RowMutation> unknown;
  RETURN_IF_ERROR(ForEachRow(session.cells(), spec, [&](const Row& row) {
    for (const Cell& cell : row.cells) {
      const auto kind = KindOf(cell.qualifier);
      if (!kind) {
        if (IsMetadata(cell.qualifier)) continue;
        LogWarning("", "unknown qualifier in row " + ByteListText(row.key) + ": " +
                           FromLatin1(cell.qualifier));
        unknown.push_back({row.key, {DeleteColumn(cell.family, cell.qualifier)}});
      } else if (cell.family == "name") {
        checks.at(*kind).AddReverse(row.key, cell.value);
      } else if (row.key == kCounterRow) {
        checks.at(*kind).AddCounter(cell.value);
      } else {
        checks.at(*kind).AddForward(row.key, cell.value);
      }
    }
    return Status();
  }));

  uint64_t errors = 0;
  for (auto& [kind, check] : checks) {
    RETURN_IF_ERROR(check.Check());
    errors += check.errors();
  }
  if (options.fix && options.delete_unknown && !unknown.empty())
    RETURN_IF_ERROR(session.cells().Mutate(session.uid_table(), unknown));
  LogWarning("", errors == 0 ? std::string("No errors found.")
                             : std::to_string(errors) + " errors found.");
  return errors;
}

}  // namespace hg::tsd
