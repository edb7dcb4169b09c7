#include "storage/hbase/row_changes.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace hg::hbase {
namespace {

using Kind = CellChange::Kind;

bool OfColumn(const CellChange& change, const CellChange& other) {
  return change.family == other.family && change.qualifier == other.qualifier;
}

bool IsPutNow(const CellChange& change) {
  return change.kind == Kind::kPut && !change.timestamp_ms;
}

bool IsDeleteNow(const CellChange& change) {
  return change.kind != Kind::kPut && !change.timestamp_ms;
}

// Keeps only the last of several puts of one column and time.
std::vector<CellChange> LastPuts(const std::vector<CellChange>& puts) {
  const auto column = [](const CellChange& put) {
    return std::tie(put.family, put.qualifier, put.timestamp_ms);
  };
  std::vector<const CellChange*> last;
  for (const CellChange& put : puts) last.push_back(&put);
  std::stable_sort(last.begin(), last.end(), [&](const CellChange* a, const CellChange* b) {
    return column(*a) < column(*b);
  });
  std::vector<CellChange> settled;
  for (size_t i = 0; i < last.size(); ++i) {
    const bool undone = i + 1 < last.size() && column(*last[i]) == column(*last[i + 1]);
    if (!undone) settled.push_back(*last[i]);
  }
  return settled;
}

}  // namespace

bool DeletesNow(const std::vector<CellChange>& changes) {
  return std::any_of(changes.begin(), changes.end(), IsDeleteNow);
}

Result<std::vector<CellChange>> SettleOrder(const std::vector<CellChange>& changes,
                                            const ColumnReader& columns) {
  const bool only_puts = std::all_of(changes.begin(), changes.end(), [](const CellChange& change) {
    return change.kind == Kind::kPut;
  });
  if (only_puts) return LastPuts(changes);
  std::vector<CellChange> settled;
  std::set<Bytes> emptied;  // families with a delete without a timestamp and a put after it
  for (const CellChange& change : changes) {
    const auto drop = [&](const auto& undone) { return std::erase_if(settled, undone) > 0; };
    switch (change.kind) {
      case Kind::kPut:
        drop([&](const CellChange& earlier) {
          if (!OfColumn(earlier, change)) return false;
          return earlier.kind == Kind::kPut ? earlier.timestamp_ms == change.timestamp_ms
                                            : IsDeleteNow(earlier) && IsPutNow(change) &&
                                                  earlier.kind == Kind::kDeleteColumn;
        });
        if (IsPutNow(change) &&
            std::any_of(settled.begin(), settled.end(), [&](const CellChange& earlier) {
              return earlier.kind == Kind::kDeleteFamily && IsDeleteNow(earlier) &&
                     earlier.family == change.family;
            })) {
          emptied.insert(change.family);
        }
        break;
      case Kind::kDeleteColumn:
        if (IsDeleteNow(change)) {
          drop([&](const CellChange& earlier) {
            return OfColumn(earlier, change) && IsPutNow(earlier);
          });
        }
        break;
      case Kind::kDeleteFamily:
        if (IsDeleteNow(change)) {
          drop([&](const CellChange& earlier) {
            return earlier.family == change.family && (IsPutNow(earlier) || IsDeleteNow(earlier));
          });
          emptied.erase(change.family);
        }
        break;
      case Kind::kDeleteVersion: {
        // A delete of the newest version deletes the version that an earlier change of this
        // mutation has put.
        const bool undone = IsDeleteNow(change) && drop([&](const CellChange& earlier) {
                              return OfColumn(earlier, change) && IsPutNow(earlier);
                            });
        if (undone) continue;
        break;
      }
      case Kind::kDeleteFamilyVersion:
        break;
    }
    settled.push_back(change);
  }
  for (const Bytes& family : emptied) {
    ASSIGN_OR_RETURN(const std::vector<Bytes> present, columns(family));
    std::erase_if(settled, [&](const CellChange& change) {
      return change.kind == Kind::kDeleteFamily && IsDeleteNow(change) && change.family == family;
    });
    for (const Bytes& qualifier : present) {
      const CellChange gone = DeleteColumn(family, qualifier);
      const bool put_again = std::any_of(
          settled.begin(), settled.end(),
          [&](const CellChange& change) { return OfColumn(change, gone) && IsPutNow(change); });
      if (!put_again) settled.push_back(gone);
    }
  }
  return settled;
}

}  // namespace hg::hbase
