#include "tests/support/model_store.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "storage/base/invariant.h"
#include "storage/lsm/table_attributes.h"
#include "storage/points/filter_row.h"
#include "storage/table_name.h"

namespace hg {
namespace {

// The following two functions distinguish four kinds of tombstones. A tombstone is for a column or
// for a whole family, and for all times up to its time or for exactly its time.
bool OfColumn(CellChange::Kind kind) {
  return kind == CellChange::Kind::kDeleteColumn || kind == CellChange::Kind::kDeleteVersion;
}
bool OfOneTime(CellChange::Kind kind) {
  return kind == CellChange::Kind::kDeleteVersion || kind == CellChange::Kind::kDeleteFamilyVersion;
}

bool InRange(const CellSelection& wanted, int64_t time_ms) {
  return time_ms >= wanted.min_ms && (time_ms < wanted.max_ms || wanted.max_ms == INT64_MAX);
}

}  // namespace

// Builds its list of rows again for each fetch, so rows written meanwhile are visible.
class ModelCursor : public ScanCursor {
 public:
  ModelCursor(ModelStore* store, ScanSpec spec) : store_(store), spec_(std::move(spec)) {}

  Status Next(std::vector<Row>* rows) override {
    rows->clear();
    memory_.Remove(memory_.held());
    std::lock_guard lock(store_->mutex_);
    ASSIGN_OR_RETURN(auto* table, store_->FindTable(spec_.table));
    std::vector<const Bytes*> keys;
    for (const auto& [key, row] : table->rows) keys.push_back(&key);
    if (spec_.reversed) std::reverse(keys.begin(), keys.end());
    size_t bytes = 0;
    for (const Bytes* key : keys) {
      if (rows->size() >= spec_.batch_rows || bytes >= spec_.batch_bytes || left_ == 0) break;
      if (started_ ? !Before(last_, *key) : !spec_.start.empty() && Before(*key, spec_.start)) {
        continue;
      }
      if (!spec_.stop.empty() && !Before(*key, spec_.stop)) break;
      CellSelection whole = spec_;
      whole.keys_only = whole.first_cell_only = false;
      Row row = store_->Select(*table, *key, whole);
      if (row.empty() || !points::RowPasses(spec_.filter, *key, row.cells)) continue;
      // Like the embedded store, the model reads the selected columns and then strips them.
      RETURN_IF_ERROR(CountRow(row, &memory_));
      points::Strip(spec_, &row.cells);
      last_ = *key;
      started_ = true;
      --left_;
      for (const Cell& cell : row.cells) bytes += cell.qualifier.size() + cell.value.size();
      bytes += key->size();
      rows->push_back(std::move(row));
    }
    return {};
  }

 private:
  [[nodiscard]] bool Before(const Bytes& a, const Bytes& b) const {
    return spec_.reversed ? b < a : a < b;
  }

  ModelStore* store_;
  const ScanSpec spec_;
  Bytes last_;
  bool started_ = false;
  uint64_t left_ = spec_.limit_rows;
  MemoryTally memory_{spec_.context};  // of the rows returned last
};

Result<ModelStore::Table*> ModelStore::FindTable(const std::string& name) {
  auto it = tables_.find(std::string(WithoutDefaultNamespace(name)));
  if (it == tables_.end()) return Status::NotFound("no such table: " + name);
  return &it->second;
}

Status ModelStore::CheckKey(ByteView key) {
  if (key.empty()) return Status::InvalidArgument("empty row key");
  if (key.size() > kKeyBytesMax) {
    return Status::InvalidArgument("row key of " + std::to_string(key.size()) + " bytes, at most " +
                                   std::to_string(kKeyBytesMax));
  }
  return {};
}

Status ModelStore::CheckFamily(const Table& table, ByteView family) {
  for (const auto& known : table.descriptor.families) {
    if (known.name == family) return {};
  }
  return Status::NotFound("no such family: " + table.descriptor.name + ":" + Bytes(family));
}

Status ModelStore::CheckTtl(const Table& table, std::optional<int64_t> ttl_ms) {
  if (ttl_ms && *ttl_ms < 1) return Status::InvalidArgument("a TTL below 1 ms");
  if (ttl_ms && table.descriptor.points)
    return Status::InvalidArgument("cells of tables of points have no TTL");
  return {};
}

Status ModelStore::CheckMutation(const Table& table, const RowMutation& mutation) {
  RETURN_IF_ERROR(CheckKey(mutation.key));
  for (const auto& change : mutation.changes) {
    RETURN_IF_ERROR(CheckFamily(table, change.family));
    const bool put = change.kind == CellChange::Kind::kPut;
    if (change.kind == CellChange::Kind::kDeleteFamilyVersion && !change.timestamp_ms) {
      return Status::InvalidArgument("a delete of a family's version needs a time");
    }
    RETURN_IF_ERROR(CheckTtl(table, change.ttl_ms));
    if (table.descriptor.points && !put && change.timestamp_ms) {
      return Status::InvalidArgument("tables of points go by arrival");
    }
    if (change.value.size() > kValueBytesMax) {
      return Status::InvalidArgument("value of " + std::to_string(change.value.size()) +
                                     " bytes, at most " + std::to_string(kValueBytesMax));
    }
  }
  return {};
}

int64_t ModelStore::NextStamp() {
  last_stamp_ms_ = std::max(clock_.NowMs(), last_stamp_ms_ + 1);
  return last_stamp_ms_;
}

Status ModelStore::CreateTable(const TableDescriptor& wanted) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(lsm::CheckDescriptor(wanted));
  TableDescriptor table = wanted;
  ASSIGN_OR_RETURN(table.name, lsm::TableName(wanted.name));
  auto [it, fresh] = tables_.try_emplace(table.name);
  if (fresh) it->second.descriptor = table;
  if (lsm::SameDescriptor(it->second.descriptor, table)) return {};
  return Status::Conflict("table exists with another descriptor: " + table.name);
}

Status ModelStore::AlterTable(const TableDescriptor& wanted, const TableDescriptor* before) {
  std::lock_guard lock(mutex_);
  RETURN_IF_ERROR(lsm::CheckDescriptor(wanted));
  ASSIGN_OR_RETURN(Table * table, FindTable(wanted.name));
  if (wanted.points != table->descriptor.points) {
    return Status::InvalidArgument("a table's order cannot be altered");
  }
  if (before != nullptr && (before->families != table->descriptor.families ||
                            before->split_policy != table->descriptor.split_policy)) {
    return Status::Conflict("the table was altered at the same time");
  }
  table->descriptor.families = wanted.families;
  table->descriptor.split_policy = wanted.split_policy;
  for (auto& [key, row] : table->rows) {
    std::erase_if(row.events, [&](const Event& event) {
      return !CheckFamily(*table, event.column.first).ok();
    });
  }
  return {};
}

Status ModelStore::DropTable(const std::string& name) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  tables_.erase(Bytes(table->descriptor.name));
  return {};
}

Result<TableDescriptor> ModelStore::DescribeTable(const std::string& name) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  return table->descriptor;
}

Result<std::vector<TableDescriptor>> ModelStore::ListTables() {
  std::lock_guard lock(mutex_);
  std::vector<TableDescriptor> all;
  for (const auto& [name, table] : tables_) all.push_back(table.descriptor);
  return all;
}

std::vector<Status> ModelStore::MutateRows(const std::string& name,
                                           const std::vector<RowMutation>& rows) {
  std::lock_guard lock(mutex_);
  const auto table = FindTable(name);
  if (!table.ok()) return std::vector<Status>(rows.size(), table.status());
  std::vector<Status> statuses;
  for (const auto& mutation : rows) {
    statuses.push_back(CheckMutation(**table, mutation));
    if (statuses.back().ok()) Apply(*table, mutation);
  }
  return statuses;
}

void ModelStore::Apply(Table* table, const RowMutation& mutation) {
  if (mutation.changes.empty()) return;
  StoredRow& row = table->rows[mutation.key];
  // A delete of the newest version deletes the version that was the newest before the mutation.
  const bool of_newest =
      std::any_of(mutation.changes.begin(), mutation.changes.end(), [](const CellChange& change) {
        return change.kind == CellChange::Kind::kDeleteVersion && !change.timestamp_ms;
      });
  const std::vector<Cell> before = of_newest ? Visible(*table, row, {}) : std::vector<Cell>();
  int64_t stamp = NextStamp();
  for (const auto& change : mutation.changes) {
    Event event{change.kind,
                {change.family, change.qualifier},
                change.timestamp_ms.value_or(stamp),
                INT64_MAX,
                change.value};
    if (change.ttl_ms) event.expires_ms = event.timestamp_ms + *change.ttl_ms;
    if (change.kind == CellChange::Kind::kDeleteVersion && !change.timestamp_ms) {
      auto newest = std::find_if(before.begin(), before.end(), [&](const Cell& cell) {
        return cell.family == change.family && cell.qualifier == change.qualifier;
      });
      if (newest == before.end()) continue;
      event.timestamp_ms = newest->timestamp_ms;
    } else if (change.kind != CellChange::Kind::kPut && !change.timestamp_ms) {
      // A put after a delete in one mutation must be visible, so it gets the next time.
      stamp = NextStamp();
    }
    Add(*table, &row, std::move(event));
  }
}

void ModelStore::Add(const Table& table, StoredRow* row, Event event) {
  const bool of_column = event.kind == CellChange::Kind::kPut || OfColumn(event.kind);
  if (!of_column) event.column.second.clear();
  if (table.descriptor.points) {
    std::erase_if(row->events, [&](const Event& old) {
      return of_column ? old.column == event.column : old.column.first == event.column.first;
    });
    if (event.kind != CellChange::Kind::kPut) return;
  }
  // A visible put into a family with default attributes replaces older puts. Otherwise counters
  // would accumulate versions.
  const auto family =
      std::find_if(table.descriptor.families.begin(), table.descriptor.families.end(),
                   [&](const FamilyDescriptor& f) { return f.name == event.column.first; });
  FamilyDescriptor plain;
  plain.name = event.column.first;
  if (event.kind == CellChange::Kind::kPut && event.expires_ms == INT64_MAX && *family == plain &&
      !Hidden(*family, MarksOf(*row, family->name), event, nullptr)) {
    std::erase_if(row->events, [&](const Event& old) {
      return old.kind == event.kind && old.column == event.column &&
             old.timestamp_ms <= event.timestamp_ms;
    });
  }
  row->events.push_back(std::move(event));
}

std::vector<const ModelStore::Event*> ModelStore::MarksOf(const StoredRow& row,
                                                          const Bytes& family) {
  std::vector<const Event*> marks;
  for (const Event& event : row.events) {
    if (event.kind != CellChange::Kind::kPut && event.column.first == family)
      marks.push_back(&event);
  }
  return marks;
}

bool ModelStore::Hidden(const FamilyDescriptor& family, const std::vector<const Event*>& marks,
                        const Event& put, const CellSelection* range) {
  for (const Event* event : marks) {
    const Event& mark = *event;
    if (OfColumn(mark.kind) && mark.column != put.column) continue;
    if (OfOneTime(mark.kind) ? mark.timestamp_ms != put.timestamp_ms
                             : mark.timestamp_ms < put.timestamp_ms) {
      continue;
    }
    // Events are stored in the order of writing, so the event with the lower address is older.
    if (family.new_version_behavior && event < &put) continue;
    if (range != nullptr && !InRange(*range, mark.timestamp_ms)) continue;
    return true;
  }
  return false;
}

std::vector<Cell> ModelStore::Visible(const Table& table, const StoredRow& row,
                                      const CellSelection& wanted) const {
  const int64_t now = clock_.NowMs();
  std::vector<Cell> cells;
  for (const FamilyDescriptor& family : table.descriptor.families) {
    const int64_t oldest = family.ttl_s == kTtlForever ? INT64_MIN : now - family.ttl_s * 1000;
    // Per column, newest first; for equal times the one written last.
    std::map<Bytes, std::map<int64_t, const Event*, std::greater<>>> columns;
    const std::vector<const Event*> marks = MarksOf(row, family.name);
    for (const Event& event : row.events) {
      if (event.kind == CellChange::Kind::kPut && event.column.first == family.name) {
        columns[event.column.second][event.timestamp_ms] = &event;
      }
    }
    for (const auto& [qualifier, versions] : columns) {
      int32_t kept = 0;
      int32_t given = 0;
      for (const auto& [time, put] : versions) {
        if (put->expires_ms < now) continue;
        if (!family.keep_deleted_cells && Hidden(family, marks, *put, nullptr)) continue;
        if (++kept > family.versions) break;
        if (time < oldest && kept > family.min_versions) continue;
        if (!InRange(wanted, time)) continue;
        if (family.keep_deleted_cells && Hidden(family, marks, *put, &wanted)) continue;
        if (++given > wanted.max_versions) break;
        cells.push_back({family.name, qualifier, put->value, time});
      }
    }
  }
  std::stable_sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.family != b.family ? a.family < b.family : a.qualifier < b.qualifier;
  });
  return cells;
}

Status ModelStore::DeleteRow(const std::string& name, ByteView key) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  auto row = table->rows.find(Bytes(key));
  if (row == table->rows.end() && table->descriptor.points) return {};
  StoredRow& stored = table->rows[Bytes(key)];
  int64_t stamp = NextStamp();
  for (const auto& family : table->descriptor.families) {
    Add(*table, &stored,
        {CellChange::Kind::kDeleteFamily, {family.name, {}}, stamp, INT64_MAX, {}});
  }
  return {};
}

bool ModelStore::Find(const Table& table, ByteView key, const Column& column, Cell* cell) const {
  auto row = table.rows.find(Bytes(key));
  if (row == table.rows.end()) return false;
  for (Cell& found : Visible(table, row->second, {})) {
    if (found.family != column.first || found.qualifier != column.second) continue;
    *cell = std::move(found);
    return true;
  }
  return false;
}

Row ModelStore::Select(const Table& table, const Bytes& key, const CellSelection& wanted) const {
  Row row{key, {}};
  auto stored = table.rows.find(key);
  if (stored == table.rows.end()) return row;
  for (Cell& cell : Visible(table, stored->second, wanted)) {
    if (points::ColumnChosen(wanted, cell.family, cell.qualifier)) {
      row.cells.push_back(std::move(cell));
    }
  }
  points::Strip(wanted, &row.cells);
  return row;
}

Result<Row> ModelStore::GetCells(const std::string& name, ByteView key,
                                 const CellSelection& wanted) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  if (!wanted.family.empty()) RETURN_IF_ERROR(CheckFamily(*table, wanted.family));
  Row row = Select(*table, Bytes(key), wanted);
  MemoryTally memory(wanted.context);
  RETURN_IF_ERROR(CountRow(row, &memory));
  return row;
}

Result<std::vector<int64_t>> ModelStore::IncrementColumns(
    const std::string& name, ByteView key, const std::vector<ColumnIncrement>& columns,
    std::optional<int64_t> ttl_ms) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  RETURN_IF_ERROR(CheckTtl(*table, ttl_ms));
  for (const ColumnIncrement& column : columns) {
    RETURN_IF_ERROR(CheckFamily(*table, column.family));
    Cell old;
    if (Find(*table, key, {column.family, column.qualifier}, &old) && old.value.size() != 8) {
      return Status::InvalidArgument("counter of " + std::to_string(old.value.size()) +
                                     " bytes, not 8: " + ToHex(key));
    }
  }
  std::vector<int64_t> sums;
  int64_t stamp = NextStamp();
  for (const ColumnIncrement& column : columns) {
    Cell old;
    const bool found = Find(*table, key, {column.family, column.qualifier}, &old);
    const uint64_t sum =
        (found ? ReadBig64(old.value.data()) : 0) + static_cast<uint64_t>(column.by);
    Bytes value;
    AppendBig(&value, sum, 8);
    PutOver(*table, &table->rows[Bytes(key)], {column.family, column.qualifier},
            found ? &old : nullptr, stamp, ttl_ms, std::move(value));
    sums.push_back(static_cast<int64_t>(sum));
  }
  return sums;
}

void ModelStore::PutOver(const Table& table, StoredRow* row, const Column& column, const Cell* old,
                         int64_t stamp, std::optional<int64_t> ttl_ms, Bytes value) {
  int64_t time = stamp;
  if (old != nullptr) {
    time = std::max(stamp, old->timestamp_ms);
    const Event* last = nullptr;  // at equal times, the event that arrived last is visible
    for (const Event& event : row->events) {
      const bool same = event.kind == CellChange::Kind::kPut && event.column == column &&
                        event.timestamp_ms == old->timestamp_ms;
      if (same) last = &event;
    }
    INVARIANT(last != nullptr);
    if (!ttl_ms && last->expires_ms != INT64_MAX) ttl_ms = last->expires_ms - last->timestamp_ms;
  }
  Add(table, row,
      {CellChange::Kind::kPut, column, time, ttl_ms ? time + *ttl_ms : INT64_MAX,
       std::move(value)});
}

Status ModelStore::AppendColumns(const std::string& name, ByteView key,
                                 const std::vector<ColumnAppend>& columns,
                                 std::optional<int64_t> ttl_ms) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  RETURN_IF_ERROR(CheckTtl(*table, ttl_ms));
  std::vector<Cell> joined;
  std::vector<bool> found;
  for (const ColumnAppend& one : columns) {
    RETURN_IF_ERROR(CheckFamily(*table, one.family));
    Cell& cell = joined.emplace_back();
    found.push_back(Find(*table, key, {one.family, one.qualifier}, &cell));
    cell.value += one.value;
    if (cell.value.size() > kValueBytesMax) {
      return Status::InvalidArgument("value of " + std::to_string(cell.value.size()) +
                                     " bytes, at most " + std::to_string(kValueBytesMax));
    }
  }
  const int64_t stamp = NextStamp();
  for (size_t i = 0; i < columns.size(); ++i) {
    PutOver(*table, &table->rows[Bytes(key)], {columns[i].family, columns[i].qualifier},
            found[i] ? &joined[i] : nullptr, stamp, ttl_ms, joined[i].value);
  }
  return {};
}

Result<bool> ModelStore::CompareAndMutate(ByteView family, ByteView qualifier,
                                          const Expected& expected, const std::string& name,
                                          const RowMutation& mutation) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  if (expected && expected->empty()) return Status::InvalidArgument("empty expected value");
  RETURN_IF_ERROR(CheckFamily(*table, family));
  RETURN_IF_ERROR(CheckMutation(*table, mutation));
  Cell old;
  const bool found = Find(*table, mutation.key, {Bytes(family), Bytes(qualifier)}, &old);
  const bool as_expected = expected ? found && old.value == *expected : old.value.empty();
  if (!as_expected) return false;
  Apply(table, mutation);
  return true;
}

Result<bool> ModelStore::MutateIfUnchanged(ByteView family, const std::vector<Cell>& cells,
                                           const std::string& name, const RowMutation& mutation) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckFamily(*table, family));
  RETURN_IF_ERROR(CheckMutation(*table, mutation));
  CellSelection wanted;
  wanted.family = family;
  if (Select(*table, mutation.key, wanted).cells != cells) return false;
  Apply(table, mutation);
  return true;
}

Result<std::unique_ptr<ScanCursor>> ModelStore::Scan(const ScanSpec& spec) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(spec.table));
  if (!spec.family.empty()) RETURN_IF_ERROR(CheckFamily(*table, spec.family));
  if (spec.batch_rows == 0) return Status::InvalidArgument("batch_rows is 0");
  RETURN_IF_ERROR(points::CheckFilter(spec.filter));
  return std::unique_ptr<ScanCursor>(std::make_unique<ModelCursor>(this, spec));
}

Result<std::vector<RegionInfo>> ModelStore::Regions(const std::string& name,
                                                    RequestContext* /*context*/) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RegionInfo whole;
  for (const auto& [key, row] : table->rows) {
    for (const Event& event : row.events) {
      whole.memory_bytes += key.size() + event.column.second.size() + event.value.size();
    }
  }
  return std::vector<RegionInfo>{whole};
}

// One item per line: its kind, then its fields. Byte strings are "x" and hexadecimal digits, so
// that none is empty.
Status ModelStore::SaveTo(const std::string& path) const {
  std::lock_guard lock(mutex_);
  auto hex = [](const Bytes& b) { return "x" + ToHex(b); };
  std::string temporary = path + ".new";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << "stamp " << last_stamp_ms_ << '\n';
  for (const auto& [name, table] : tables_) {
    out << "table " << hex(name) << ' ' << table.descriptor.points << '\n';
    for (const FamilyDescriptor& f : table.descriptor.families) {
      out << "family " << hex(f.name) << ' ' << f.versions << ' ' << f.min_versions << ' '
          << f.ttl_s << ' ' << f.keep_deleted_cells << ' ' << f.new_version_behavior << '\n';
    }
    for (const auto& [key, row] : table.rows) {
      out << "row " << hex(key) << '\n';
      for (const Event& event : row.events) {
        out << "event " << static_cast<int>(event.kind) << ' ' << hex(event.column.first) << ' '
            << hex(event.column.second) << ' ' << event.timestamp_ms << ' ' << event.expires_ms
            << ' ' << hex(event.value) << '\n';
      }
    }
  }
  out.close();
  if (!out || std::rename(temporary.c_str(), path.c_str()) != 0) {
    return Status::IoError("cannot write " + path);
  }
  return {};
}

Status ModelStore::LoadFrom(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) return Status::NotFound("no such file: " + path);
  std::map<std::string, Table> tables;
  int64_t stamp = 0;
  Table* table = nullptr;
  StoredRow* row = nullptr;
  auto unhex = [](std::istream& from, Bytes* out) {
    std::string word;
    out->clear();
    if (!(from >> word)) return false;
    if (word[0] == 'x' && FromHex(ByteView(word).substr(1), out)) return true;
    from.setstate(std::ios::failbit);
    return false;
  };
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line);
    std::string kind;
    Bytes a;
    Bytes b;
    words >> kind;
    if (kind == "stamp") {
      words >> stamp;
    } else if (kind == "table" && unhex(words, &a)) {
      table = &tables[a];
      table->descriptor.name = a;
      words >> table->descriptor.points;
    } else if (kind == "family" && table && unhex(words, &a)) {
      FamilyDescriptor& f = table->descriptor.families.emplace_back();
      f.name = a;
      words >> f.versions >> f.min_versions >> f.ttl_s >> f.keep_deleted_cells >>
          f.new_version_behavior;
    } else if (kind == "row" && table && unhex(words, &a)) {
      row = &table->rows[a];
    } else if (int code = 0; kind == "event" && row && words >> code && code >= 0 && code <= 4) {
      Event& event = row->events.emplace_back();
      event.kind = static_cast<CellChange::Kind>(code);
      unhex(words, &event.column.first);
      unhex(words, &event.column.second);
      words >> event.timestamp_ms >> event.expires_ms;
      unhex(words, &event.value);
    } else {
      words.setstate(std::ios::failbit);
    }
    if (words.fail()) {
      return Status::Corruption(path + " line " + std::to_string(number) + " is not readable");
    }
  }
  std::lock_guard lock(mutex_);
  tables_ = std::move(tables);
  last_stamp_ms_ = stamp;
  return {};
}

}  // namespace hg
