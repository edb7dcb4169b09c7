#include "tsd/tools/names_first.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "storage/model/name_text.h"
#include "storage/model/uid_kind.h"
#include "tsd/tools/migrate_reader.h"

namespace hg::tsd {
namespace {

constexpr const char* kIdFamily = "id";
constexpr const char* kNameFamily = "name";
constexpr size_t kRowsAtOnce = 512;

const Cell* FindColumn(const Row& row, const Cell& like) {
  const auto found = std::find_if(row.cells.begin(), row.cells.end(), [&like](const Cell& cell) {
    return cell.family == like.family && cell.qualifier == like.qualifier;
  });
  return found == row.cells.end() ? nullptr : &*found;
}

std::string QuotedName(const Bytes& name) { return "\"" + name + "\""; }

Status Differs(const Bytes& key, const Cell& here, const Bytes& there) {
  if (here.family == kIdFamily) {
    return Status::Conflict(here.qualifier + " " + QuotedName(key) + " has the id " + ToHex(there) +
                            ", and the id " + ToHex(here.value) + " in the source");
  }
  return Status::Conflict("the id " + ToHex(key) + " of " + here.qualifier + " belongs to " +
                          QuotedName(there) + ", and to " + QuotedName(here.value) +
                          " in the source");
}

/// One call of BringNames or MatchNames.
class NamesFirst {
 public:
  NamesFirst(Store& from, const std::string& from_table, Store& to, const std::string& to_table)
      : from_(from), from_table_(from_table), to_(to), to_table_(to_table) {}

  Result<uint64_t> Run() {
    RETURN_IF_ERROR(RaiseCounters());
    const auto nothing = [](const Row&, const Cell&) { return Status(); };
    const auto put = [this](const Row& row, const Cell& cell) { return Put(row.key, cell); };
    for (const char* family : {kIdFamily, kNameFamily}) {
      RETURN_IF_ERROR(ForEachMissing(family, nothing));
    }
    for (const char* family : {kIdFamily, kNameFamily}) {
      RETURN_IF_ERROR(ForEachMissing(family, put));
    }
    return put_;
  }

  Result<IdMap> Match(const KeyLayout& layout, uid::Names& names, bool one_history) {
    RETURN_IF_ERROR(RaiseCounters());
    IdMap map(layout);
    ASSIGN_OR_RETURN(const auto cursor, from_.Scan(Ids(kIdFamily)));
    std::vector<Row> rows;
    do {
      RETURN_IF_ERROR(cursor->Next(&rows));
      ASSIGN_OR_RETURN(const std::vector<Row> there, RowsThere(rows));
      for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].key == kCounterRow) continue;
        for (const Cell& cell : rows[i].cells) {
          const Cell* const own = FindColumn(there[i], cell);
          Bytes id;
          if (own != nullptr) {
            id = own->value;
          } else {
            ASSIGN_OR_RETURN(id, IdFor(rows[i].key, cell, names, one_history));
          }
          map.Add(KindOf(cell), cell.value, id);
        }
      }
    } while (!rows.empty());
    return map;
  }

 private:
  static UidKind KindOf(const Cell& cell) {
    return *std::find_if(std::begin(kUidKinds), std::end(kUidKinds),
                         [&cell](UidKind kind) { return cell.qualifier == UidKindName(kind); });
  }

  static Cell NameOfId(const Bytes& name, const Cell& id) {
    return {kNameFamily, id.qualifier, name, 0};
  }

  /// Returns the id for a name that the target lacks. It is the source's id if that is free in the
  /// target. For other cases see MatchNames.
  Result<Bytes> IdFor(const Bytes& name, const Cell& cell, uid::Names& names, bool one_history) {
    ASSIGN_OR_RETURN(const Row of_id,
                     to_.Get(to_table_, cell.value, kNameFamily, {cell.qualifier}));
    const Cell reverse = NameOfId(name, cell);
    const Cell* const own = FindColumn(of_id, reverse);
    if (own == nullptr || own->value == name) {
      const Status put = Put(name, cell);
      if (put.ok()) {
        RETURN_IF_ERROR(Put(cell.value, reverse));
        return cell.value;
      }
      // Conflict means that another client has assigned the name or the id meanwhile.
      if (put.code() != StatusCode::kConflict) return put;
    } else if (one_history) {
      return cell.value;
    }
    return names.FindOrAssign(KindOf(cell), FromLatin1(name));
  }

  [[nodiscard]] ScanSpec Ids(const char* family) const {
    ScanSpec spec;
    spec.table = from_table_;
    spec.family = family;
    spec.batch_rows = kRowsAtOnce;
    spec.fill_cache = false;
    for (const UidKind kind : kUidKinds) spec.qualifiers.emplace_back(UidKindName(kind));
    return spec;
  }

  [[nodiscard]] Result<std::vector<Row>> RowsThere(const std::vector<Row>& rows) const {
    std::vector<Bytes> keys;
    for (const Row& row : rows) keys.push_back(row.key);
    return GetWholeRows(to_, to_table_, keys);
  }

  Status RaiseCounters() {
    ASSIGN_OR_RETURN(const Row row, from_.Get(from_table_, kCounterRow, kIdFamily));
    for (const Cell& cell : row.cells) {
      if (IsOfIds(cell)) RETURN_IF_ERROR(RaiseCounter(cell));
    }
    return {};
  }

  Status RaiseCounter(const Cell& cell) {
    for (;;) {
      ASSIGN_OR_RETURN(const Row there,
                       to_.Get(to_table_, kCounterRow, kIdFamily, {cell.qualifier}));
      const Cell* const counter = FindColumn(there, cell);
      // Counters are nonnegative numbers of 8 bytes, so the order of the bytes is the order of the
      // numbers.
      if (counter != nullptr && counter->value >= cell.value) return {};
      const Expected before =
          counter != nullptr ? Expected(counter->value) : Expected(std::nullopt);
      ASSIGN_OR_RETURN(
          const bool raised,
          to_.CompareAndMutate(kIdFamily, cell.qualifier, before, to_table_,
                               {kCounterRow, {PutCell(kIdFamily, cell.qualifier, cell.value)}}));
      if (raised) return {};
    }
  }

  /// Calls visit(row, cell) for each id or name of the source that the target lacks.
  Status ForEachMissing(const char* family,
                        const std::function<Status(const Row&, const Cell&)>& visit) {
    ASSIGN_OR_RETURN(const auto cursor, from_.Scan(Ids(family)));
    std::vector<Row> rows;
    do {
      RETURN_IF_ERROR(cursor->Next(&rows));
      ASSIGN_OR_RETURN(const std::vector<Row> there, RowsThere(rows));
      for (size_t i = 0; i < rows.size(); ++i) {
        if (rows[i].key == kCounterRow) continue;
        for (const Cell& cell : rows[i].cells) {
          if (!IsOfIds(cell)) continue;
          const Cell* const own = FindColumn(there[i], cell);
          if (own == nullptr) {
            RETURN_IF_ERROR(visit(rows[i], cell));
          } else if (own->value != cell.value) {
            return Differs(rows[i].key, cell, own->value);
          }
        }
      }
    } while (!rows.empty());
    return {};
  }

  Status Put(const Bytes& key, const Cell& cell) {
    ASSIGN_OR_RETURN(
        const bool put,
        to_.CompareAndMutate(cell.family, cell.qualifier, std::nullopt, to_table_,
                             {key, {PutCell(cell.family, cell.qualifier, cell.value)}}));
    if (put) {
      ++put_;
      return {};
    }
    // Another client assigned the id or the name after the first check.
    ASSIGN_OR_RETURN(const Row row, to_.Get(to_table_, key, cell.family, {cell.qualifier}));
    const Cell* const own = FindColumn(row, cell);
    return own != nullptr && own->value == cell.value
               ? Status()
               : Differs(key, cell, own != nullptr ? own->value : Bytes());
  }

  Store& from_;
  const std::string& from_table_;
  Store& to_;
  const std::string& to_table_;
  uint64_t put_ = 0;
};

}  // namespace

bool IsOfIds(const Cell& cell) {
  return (cell.family == kIdFamily || cell.family == kNameFamily) &&
         std::any_of(std::begin(kUidKinds), std::end(kUidKinds),
                     [&cell](UidKind kind) { return cell.qualifier == UidKindName(kind); });
}

Result<uint64_t> BringNames(Store& from, const std::string& from_table, Store& to,
                            const std::string& to_table) {
  return NamesFirst(from, from_table, to, to_table).Run();
}

Result<IdMap> MatchNames(Store& from, const std::string& from_table, Store& to,
                         const std::string& to_table, const KeyLayout& layout, uid::Names& names,
                         bool one_history) {
  return NamesFirst(from, from_table, to, to_table).Match(layout, names, one_history);
}

}  // namespace hg::tsd
