#include "tsd/tools/uid_fsck.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "storage/codec/row_key.h"
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

/// Returns whether a row can have this key. Names and ids in damaged mappings can be other texts.
bool IsRowKey(ByteView key) { return !key.empty() && key.size() <= codec::kRowKeyBytesMax; }

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
      if (back != reverse_.end() && back->second == name) continue;
      ASSIGN_OR_RETURN(const bool unchanged, Unchanged(name, id));
      if (!unchanged) continue;
      if (back == reverse_.end()) {
        Error("forward mapping without reverse mapping: " + FromLatin1(name) + " -> " +
              ByteListText(id));
        RETURN_IF_ERROR(PutReverse(id, name).status());
      } else {
        RETURN_IF_ERROR(SettleDisagreement(name, id, names[id]));
      }
    }
    return {};
  }

  /// Returns whether the store still has the mappings that are known of a name and an id. Clients
  /// of a running daemon may have assigned, renamed or deleted the name since the scan. The
  /// function cannot recognize an assignment or rename that has written only some of its mappings.
  Result<bool> Unchanged(const Bytes& name, const Bytes& id) {
    ASSIGN_OR_RETURN(const bool unchanged, Holds(name, "id", forward_));
    if (!unchanged) return false;
    return Holds(id, "name", reverse_);
  }

  Result<bool> Holds(const Bytes& row, const Bytes& family, const std::map<Bytes, Bytes>& known) {
    const auto there = known.find(row);
    if (!IsRowKey(row)) return there == known.end();
    ASSIGN_OR_RETURN(const Row now,
                     session_.cells().Get(session_.uid_table(), row, family, {word_}));
    if (there == known.end() || now.empty()) return there == known.end() && now.empty();
    return now.cells[0].value == there->second;
  }

  /// Handles `name` -> `id` if the id maps to another name.
  Status SettleDisagreement(const Bytes& name, const Bytes& id, const std::set<Bytes>& names) {
    const Bytes other = reverse_.at(id);
    const std::string mapping =
        FromLatin1(name) + " -> " + ByteListText(id) + " -> " + FromLatin1(other);
    // The error counts twice, for the name and for the id.
    errors_ += 1;
    Error("the reverse mapping differs from the forward one: " + mapping);
    if (names.size() == 1) return PutReverse(id, name).status();
    return JoinNames(id, names);
  }

  /// Handles several names with one id. It is unknown to which name the points with this id belong.
  /// So the id gets a new name that is composed of these names, and these names are deleted.
  Status JoinNames(const Bytes& id, const std::set<Bytes>& names) {
    Bytes joined = "fsck";
    for (const Bytes& name : names) joined += "." + name;
    if (!fix_ || !forward_.contains(*names.begin())) return {};
    for (const Bytes& name : names) {
      ASSIGN_OR_RETURN(const bool unchanged, Unchanged(name, id));
      if (!unchanged) return {};
    }
    if (forward_.contains(joined)) {
      LogWarning("", word_ + ": the names of id " + ByteListText(id) +
                         " are not joined, because the name " + FromLatin1(joined) + " exists");
      return {};
    }
    ASSIGN_OR_RETURN(const bool put, Change(joined, {}, {PutCell("id", word_, id)}));
    if (!put) return {};
    forward_[joined] = id;
    ASSIGN_OR_RETURN(const bool renamed, PutReverse(id, joined));
    if (!renamed) return {};
    for (const Bytes& name : names) {
      RETURN_IF_ERROR(Change(name, id, {DeleteColumn("id", word_)}).status());
      forward_.erase(name);
    }
    return {};
  }

  Status CheckReverse() {
    const std::map<Bytes, Bytes> reverse = reverse_;
    for (const auto& [id, name] : reverse) {
      const std::string mapping = ByteListText(id) + " -> " + FromLatin1(name);
      const auto there = forward_.find(name);
      if (there != forward_.end() && there->second == id) continue;
      ASSIGN_OR_RETURN(const bool unchanged, Unchanged(name, id));
      if (!unchanged) continue;
      if (there == forward_.end()) {
        LogWarning("", word_ + ": reverse mapping without forward mapping: " + mapping);
        RETURN_IF_ERROR(DeleteReverse(id));
      } else {
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
    // The scan read the counter first, and clients may have assigned ids since then.
    ASSIGN_OR_RETURN(const Row now,
                     session_.cells().Get(session_.uid_table(), kCounterRow, "id", {word_}));
    if (!now.empty() && now.cells[0].value.size() == 8)
      counter_ = static_cast<int64_t>(ReadBig64(now.cells[0].value.data()));
    if (counter_ >= largest) return {};
    Error("the largest id is " + std::to_string(largest) + ", the counter only " +
          std::to_string(counter_));
    if (!fix_ || counter_damaged_) return {};
    return session_.cells()
        .Increment(session_.uid_table(), kCounterRow, "id", word_, largest - counter_)
        .status();
  }

  /// Returns false if nothing was put.
  Result<bool> PutReverse(const Bytes& id, const Bytes& name) {
    if (!fix_) return false;
    const auto known = reverse_.find(id);
    const Expected expected = known == reverse_.end() ? Expected() : known->second;
    reverse_[id] = name;
    return Change(id, expected, {PutCell("name", word_, name)});
  }

  Status DeleteReverse(const Bytes& id) {
    if (!fix_) return {};
    const Bytes metadata = kind_ == UidKind::kMetric ? "metric_meta" : word_ + "_meta";
    return Change(id, reverse_.at(id),
                  {DeleteColumn("name", word_), DeleteColumn("name", metadata)})
        .status();
  }

  /// Changes a row if its column of this kind still has the expected value. Otherwise, changes
  /// nothing and returns false.
  Result<bool> Change(const Bytes& row, const Expected& expected, std::vector<CellChange> changes) {
    if (!IsRowKey(row)) {
      LogWarning("", word_ + ": a mapping is not repaired, because a row key has 1 to " +
                         std::to_string(codec::kRowKeyBytesMax) + " bytes, not " +
                         std::to_string(row.size()));
      return false;
    }
    const Bytes family = changes[0].family;
    ASSIGN_OR_RETURN(const bool changed,
                     session_.cells().CompareAndMutate(
                         family, word_, expected && expected->empty() ? Expected() : expected,
                         session_.uid_table(), {row, std::move(changes)}));
    if (!changed) {
      LogWarning("", word_ + ": row " + ByteListText(row) +
                         " is not repaired, because a client has changed it");
    }
    return changed;
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
