#include "tsd/tools/uid_meta.h"

#include <algorithm>
#include <map>
#include <set>

#include "storage/codec/row_key.h"
#include "storage/for_each_row.h"
#include "storage/points/render.h"
#include "tsd/settings.h"
#include "tsd/tables.h"
#include "uid/metadata.h"
#include "uid/tree_sorter.h"
#include "uid/tree_store.h"

namespace hg::tsd {
namespace {

/// If a stored time of creation is later than the first row by more than this, it is corrected.
constexpr int64_t kCreatedToleranceS = 3600;

/// Returns the base time of the first row of each series, by TSUID. Keys that belong to no series
/// are skipped.
Result<std::map<Bytes, uint32_t>> FirstRows(Session& session) {
  std::map<Bytes, uint32_t> first;
  ScanSpec spec;
  spec.table = session.data_table();
  spec.keys_only = true;
  spec.batch_rows = 1024;
  RETURN_IF_ERROR(ForEachRow(session.cells(), spec, [&](const Row& row) -> Status {
    const auto key = codec::RowKey::Decode(session.layout(), row.key);
    if (!key.ok()) return {};
    const auto [place, fresh] = first.try_emplace(key->tsuid(), key->base());
    if (!fresh) place->second = std::min(place->second, key->base());
    return {};
  }));
  return first;
}

class MetaSync {
 public:
  MetaSync(Session& session, uid::MetadataOptions options, uid::TreeSorterOptions tree_options)
      : session_(session),
        meta_table_(options.meta_table),
        metadata_(session.cells(), session.names(), std::move(options)),
        trees_(session.cells(), metadata_, SystemClock(),
               session.config().String("tsd.storage.hbase.tree_table"), std::move(tree_options)) {}

  Status Run() {
    ASSIGN_OR_RETURN(const auto series, FirstRows(session_));
    for (const auto& [id, base] : FirstUses(series)) {
      RETURN_IF_ERROR(SyncId(id.first, id.second, base));
    }
    for (const auto& [tsuid, base] : series) RETURN_IF_ERROR(SyncSeries(tsuid, base));
    return {};
  }

 private:
  using Ids = std::map<std::pair<UidKind, Bytes>, uint32_t>;

  /// Returns for each id the base time of the first row that contains it.
  [[nodiscard]] Ids FirstUses(const std::map<Bytes, uint32_t>& series) const {
    Ids ids;
    const auto width = static_cast<size_t>(session_.layout().metric_width);
    for (const auto& [tsuid, base] : series) {
      const auto use = [&ids, base = base](UidKind kind, ByteView id) {
        const auto [place, fresh] = ids.try_emplace({kind, Bytes(id)}, base);
        if (!fresh) place->second = std::min(place->second, base);
      };
      use(UidKind::kMetric, ByteView(tsuid).substr(0, width));
      codec::ForEachPair(session_.layout(), tsuid, [&use](ByteView tagk, ByteView tagv) {
        use(UidKind::kTagk, tagk);
        use(UidKind::kTagv, tagv);
      });
    }
    return ids;
  }

  static bool IsAccurate(int64_t created, uint32_t base) {
    return created != 0 && created <= base + kCreatedToleranceS;
  }

  Status SyncId(UidKind kind, const Bytes& id, uint32_t base) {
    const auto stored = metadata_.FindUid(kind, id, RequestContext::Unlimited());
    // An id without a name gets no metadata.
    if (stored.status().code() == StatusCode::kNotFound) return {};
    if (stored.status().code() == StatusCode::kCorruption)
      return uid::StoreFreshUidMeta(session_.cells(), session_.uid_table(), kind, id, base);
    RETURN_IF_ERROR(stored.status());
    if (IsAccurate(stored->created, base)) return {};
    uid::UidMeta earlier;
    earlier.kind = kind;
    earlier.id = id;
    earlier.created = base;
    return metadata_.WriteUid(earlier, false, RequestContext::Unlimited()).status();
  }

  Status SyncSeries(const Bytes& tsuid, uint32_t base) {
    uid::TsMeta meta;
    meta.tsuid = tsuid;
    meta.created = base;
    const auto stored = metadata_.FindSeries(tsuid, RequestContext::Unlimited());
    if (stored.ok()) {
      if (IsAccurate(stored->created, base)) return {};
      return metadata_.WriteSeries(meta, false, RequestContext::Unlimited()).status();
    }
    const bool damaged = stored.status().code() == StatusCode::kCorruption;
    if (!damaged && stored.status().code() != StatusCode::kNotFound) return stored.status();
    const Status created = metadata_.CreateSeries(meta, RequestContext::Unlimited()).status();
    // A series with an id that has no name gets no metadata.
    if (created.code() == StatusCode::kNotFound || created.code() == StatusCode::kCorruption)
      return {};
    RETURN_IF_ERROR(created);
    if (damaged) return {};
    ASSIGN_OR_RETURN(const Row row, session_.cells().Get(meta_table_, tsuid, "name", {"ts_ctr"}));
    if (!row.empty() && row.cells[0].value.size() == 8 && ReadBig64(row.cells[0].value.data()) > 0)
      return {};
    RETURN_IF_ERROR(session_.cells().Increment(meta_table_, tsuid, "name", "ts_ctr", 1).status());
    // A series is added to the trees under the same condition as in a daemon that stores it for the
    // first time.
    if (!session_.config().Bool("tsd.core.tree.enable_processing")) return {};
    return trees_.Sort(tsuid, RequestContext::Unlimited());
  }

  Session& session_;
  const std::string meta_table_;
  uid::Metadata metadata_;
  uid::TreeSorter trees_;
};

/// Returns the names of all tables that contain rows of series. On HBase, where other programs may
/// have tables of the same form, only the tables that the settings name.
Result<std::vector<std::string>> TablesOfRows(Session& session) {
  ASSIGN_OR_RETURN(const auto tables, session.backend().remote() ? DescribeTables(session.config())
                                                                 : session.cells().ListTables());
  std::vector<std::string> names;
  for (const TableDescriptor& table : tables) {
    const bool has_rows =
        std::any_of(table.families.begin(), table.families.end(),
                    [](const FamilyDescriptor& family) { return family.name == points::kFamily; });
    if (has_rows) names.push_back(table.name);
  }
  return names;
}

/// Deletes columns of the family "name" in one row.
Status DeleteNames(Store& store, const std::string& table, const Bytes& row,
                   const std::vector<Bytes>& qualifiers) {
  RowMutation mutation{row, {}};
  for (const Bytes& qualifier : qualifiers)
    mutation.changes.push_back(DeleteColumn("name", qualifier));
  return store.Mutate(table, {mutation});
}

}  // namespace

Status RunMetaSync(Session& session) {
  ASSIGN_OR_RETURN(uid::MetadataOptions options, ReadMetadataOptions(session.config()));
  ASSIGN_OR_RETURN(uid::TreeSorterOptions trees, ReadTreeSorterOptions(session.config()));
  return MetaSync(session, std::move(options), std::move(trees)).Run();
}

Status RunMetaPurge(Session& session) {
  ASSIGN_OR_RETURN(const uid::MetadataOptions options, ReadMetadataOptions(session.config()));
  ASSIGN_OR_RETURN(const int64_t highest, session.names().HighestId(UidKind::kMetric));
  const auto purged = [highest](ByteView id) {
    return id.size() <= 8 &&
           ReadBig(id.data(), static_cast<int>(id.size())) <= static_cast<uint64_t>(highest);
  };
  ScanSpec ids;
  ids.table = options.uid_table;
  ids.family = "name";
  ids.qualifiers = {"metric_meta", "tagk_meta", "tagv_meta", "ts_meta"};
  RETURN_IF_ERROR(ForEachRow(session.cells(), ids, [&](const Row& row) -> Status {
    if (!purged(row.key)) return {};
    return DeleteNames(session.cells(), options.uid_table, row.key, ids.qualifiers);
  }));
  ScanSpec series;
  series.table = options.meta_table;
  series.keys_only = true;
  return ForEachRow(session.cells(), series, [&](const Row& row) -> Status {
    const auto width = static_cast<size_t>(session.layout().metric_width);
    if (!purged(ByteView(row.key).substr(0, width))) return {};
    return DeleteNames(session.cells(), options.meta_table, row.key, {"ts_meta", "ts_ctr"});
  });
}

Status RunForgottenMetaPurge(Session& session) {
  ASSIGN_OR_RETURN(const uid::MetadataOptions options, ReadMetadataOptions(session.config()));
  ScanSpec all;
  all.table = options.meta_table;
  all.keys_only = true;
  // The metadata is read before the rows, so that a series that is new meanwhile keeps its
  // metadata.
  std::set<Bytes> forgotten;
  RETURN_IF_ERROR(ForEachRow(session.cells(), all, [&forgotten](const Row& row) -> Status {
    forgotten.insert(row.key);
    return {};
  }));
  // Points::ListSeries would be wrong here. After a start, the embedded store also lists series
  // without rows, and other stores do not list series that have only rollups or pre-aggregates.
  ASSIGN_OR_RETURN(const std::vector<std::string> tables, TablesOfRows(session));
  for (const std::string& table : tables) {
    ScanSpec rows;
    rows.table = table;
    rows.keys_only = true;
    rows.batch_rows = 1024;
    RETURN_IF_ERROR(ForEachRow(session.cells(), rows, [&](const Row& row) -> Status {
      const auto tsuid = codec::TsuidOf(session.layout(), row.key);
      if (tsuid.ok()) forgotten.erase(*tsuid);
      return {};
    }));
  }
  for (const Bytes& tsuid : forgotten) {
    RETURN_IF_ERROR(DeleteNames(session.cells(), options.meta_table, tsuid, {"ts_meta", "ts_ctr"}));
  }
  return {};
}

Status RunTreeSync(Session& session) {
  if (!session.config().Bool("tsd.core.tree.enable_processing")) return {};
  ASSIGN_OR_RETURN(uid::MetadataOptions options, ReadMetadataOptions(session.config()));
  uid::TreeStore trees(session.cells(), session.config().String("tsd.storage.hbase.tree_table"));
  ASSIGN_OR_RETURN(std::vector<uid::Tree> enabled, trees.List(RequestContext::Unlimited()));
  std::erase_if(enabled, [](const uid::Tree& tree) { return !tree.enabled || tree.rules.empty(); });
  if (enabled.empty()) return {};
  ScanSpec series;
  series.table = options.meta_table;
  series.family = "name";
  series.qualifiers = {"ts_meta"};
  uid::Metadata metadata(session.cells(), session.names(), std::move(options));
  return ForEachRow(session.cells(), series, [&](const Row& row) -> Status {
    const Result<uid::TsMeta> meta = metadata.FindSeries(row.key, RequestContext::Unlimited());
    // A series with an id that has no name is not added to a tree.
    if (meta.status().code() == StatusCode::kNotFound ||
        meta.status().code() == StatusCode::kCorruption)
      return {};
    RETURN_IF_ERROR(meta.status());
    for (const uid::Tree& tree : enabled) {
      const Status sorted = trees.Sort(tree, *meta, true, RequestContext::Unlimited());
      if (!sorted.ok() && !uid::RulesRefuse(sorted)) return sorted;
    }
    return {};
  });
}

Status RunTreePurge(Session& session, uint16_t tree, bool definition) {
  return uid::TreeStore(session.cells(), session.config().String("tsd.storage.hbase.tree_table"))
      .Purge(tree, definition, RequestContext::Unlimited());
}

}  // namespace hg::tsd
