#include "tests/support/model_store.h"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <sstream>

#include "storage/base/invariant.h"

namespace hg {
namespace {

bool SameDescriptor(const TableDescriptor& a, const TableDescriptor& b) {
  return a.points == b.points &&
         std::equal(a.families.begin(), a.families.end(), b.families.begin(), b.families.end(),
                    [](const auto& x, const auto& y) { return x.name == y.name; });
}

}  // namespace

class ModelCursor : public ScanCursor {
 public:
  ModelCursor(ModelStore* store, ScanSpec spec)
      : store_(store), spec_(std::move(spec)), from_(spec_.start) {}

  Status Next(std::vector<Row>* rows) override {
    rows->clear();
    std::lock_guard lock(store_->mutex_);
    ASSIGN_OR_RETURN(auto* table, store_->FindTable(spec_.table));
    auto it = started_ ? table->rows.upper_bound(from_) : table->rows.lower_bound(from_);
    for (; it != table->rows.end() && rows->size() < spec_.batch_rows; ++it) {
      if (!spec_.stop.empty() && it->first >= spec_.stop) break;
      Row row = ModelStore::Select(it->first, it->second, spec_.family, spec_.qualifiers,
                                   spec_.keys_only);
      if (row.empty()) continue;
      from_ = it->first;
      started_ = true;
      rows->push_back(std::move(row));
    }
    return {};
  }

 private:
  ModelStore* store_;
  ScanSpec spec_;
  Bytes from_;
  bool started_ = false;
};

Result<ModelStore::Table*> ModelStore::FindTable(const std::string& name) {
  auto it = tables_.find(name);
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

Status ModelStore::CheckMutation(const Table& table, const RowMutation& mutation) {
  RETURN_IF_ERROR(CheckKey(mutation.key));
  for (const auto& change : mutation.changes) {
    RETURN_IF_ERROR(CheckFamily(table, change.family));
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

Status ModelStore::CreateTable(const TableDescriptor& table) {
  std::lock_guard lock(mutex_);
  if (table.name.empty() || table.families.empty()) {
    return Status::InvalidArgument("a table needs a name and a family");
  }
  auto [it, fresh] = tables_.try_emplace(table.name);
  if (fresh) it->second.descriptor = table;
  if (SameDescriptor(it->second.descriptor, table)) return {};
  return Status::Conflict("table exists with another descriptor: " + table.name);
}

Result<std::vector<TableDescriptor>> ModelStore::ListTables() {
  std::lock_guard lock(mutex_);
  std::vector<TableDescriptor> all;
  for (const auto& [name, table] : tables_) all.push_back(table.descriptor);
  return all;
}

Status ModelStore::Mutate(const std::string& name, const std::vector<RowMutation>& rows) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  for (const auto& mutation : rows) {
    RETURN_IF_ERROR(CheckMutation(*table, mutation));
    Apply(table, mutation);
  }
  return {};
}

void ModelStore::Apply(Table* table, const RowMutation& mutation) {
  if (mutation.changes.empty()) return;
  StoredRow& row = table->rows[mutation.key];
  int64_t stamp = NextStamp();
  for (const auto& change : mutation.changes) {
    switch (change.kind) {
      case CellChange::Kind::kPut:
        Put(*table, &row, {change.family, change.qualifier}, change.value,
            change.timestamp_ms.value_or(stamp));
        break;
      // A put after a delete in one mutation must be seen: it is given the next time.
      case CellChange::Kind::kDeleteColumn:
        DeleteOne(*table, &row, {change.family, change.qualifier}, stamp);
        stamp = NextStamp();
        break;
      case CellChange::Kind::kDeleteFamily:
        DeleteFamily(*table, &row, change.family, stamp);
        stamp = NextStamp();
        break;
    }
  }
}

void ModelStore::Put(const Table& table, StoredRow* row, Column column, Bytes value,
                     int64_t timestamp_ms) {
  auto cell = row->cells.find(column);
  if (!table.descriptor.points) {
    auto mark = row->column_marks.find(column);
    if (mark != row->column_marks.end() && timestamp_ms <= mark->second) return;
    auto family_mark = row->family_marks.find(column.first);
    if (family_mark != row->family_marks.end() && timestamp_ms <= family_mark->second) return;
    if (cell != row->cells.end() && timestamp_ms < cell->second.timestamp_ms) return;
  }
  row->cells[std::move(column)] = {std::move(value), timestamp_ms};
}

void ModelStore::DeleteOne(const Table& table, StoredRow* row, const Column& column,
                           int64_t mark_ms) {
  auto cell = row->cells.find(column);
  if (table.descriptor.points) {
    if (cell != row->cells.end()) row->cells.erase(cell);
    return;
  }
  row->column_marks[column] = mark_ms;
  if (cell != row->cells.end() && cell->second.timestamp_ms <= mark_ms) row->cells.erase(cell);
}

void ModelStore::DeleteFamily(const Table& table, StoredRow* row, const Bytes& family,
                              int64_t mark_ms) {
  std::erase_if(row->cells, [&](const auto& entry) {
    return entry.first.first == family &&
           (table.descriptor.points || entry.second.timestamp_ms <= mark_ms);
  });
  if (!table.descriptor.points) row->family_marks[family] = mark_ms;
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
    DeleteFamily(*table, &stored, family.name, stamp);
  }
  return {};
}

const ModelStore::Stored* ModelStore::Find(const Table& table, ByteView key, const Column& column) {
  auto row = table.rows.find(Bytes(key));
  if (row == table.rows.end()) return nullptr;
  auto cell = row->second.cells.find(column);
  return cell == row->second.cells.end() ? nullptr : &cell->second;
}

Row ModelStore::Select(const Bytes& key, const StoredRow& stored, ByteView family,
                       const std::vector<Bytes>& qualifiers, bool keys_only) {
  Row row{key, {}};
  for (const auto& [column, cell] : stored.cells) {
    if (!family.empty() && column.first != family) continue;
    if (!qualifiers.empty() &&
        std::find(qualifiers.begin(), qualifiers.end(), column.second) == qualifiers.end()) {
      continue;
    }
    row.cells.push_back(
        {column.first, column.second, keys_only ? Bytes() : cell.value, cell.timestamp_ms});
  }
  return row;
}

Result<Row> ModelStore::Get(const std::string& name, ByteView key, ByteView family,
                            const std::vector<Bytes>& qualifiers) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  if (!family.empty()) RETURN_IF_ERROR(CheckFamily(*table, family));
  auto it = table->rows.find(Bytes(key));
  if (it == table->rows.end()) return Row{Bytes(key), {}};
  return Select(it->first, it->second, family, qualifiers, false);
}

Result<int64_t> ModelStore::Increment(const std::string& name, ByteView key, ByteView family,
                                      ByteView qualifier, int64_t by) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  RETURN_IF_ERROR(CheckFamily(*table, family));
  Column column{Bytes(family), Bytes(qualifier)};
  const Stored* old = Find(*table, key, column);
  if (old != nullptr && old->value.size() != 8) {
    return Status::InvalidArgument("counter of " + std::to_string(old->value.size()) +
                                   " bytes, not 8: " + ToHex(key));
  }
  uint64_t sum = (old ? ReadBig64(old->value.data()) : 0) + static_cast<uint64_t>(by);
  int64_t stamp = std::max(NextStamp(), old ? old->timestamp_ms : 0);
  Bytes value;
  AppendBig(&value, sum, 8);
  Put(*table, &table->rows[Bytes(key)], std::move(column), std::move(value), stamp);
  return static_cast<int64_t>(sum);
}

Status ModelStore::Append(const std::string& name, ByteView key, ByteView family,
                          ByteView qualifier, ByteView value) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RETURN_IF_ERROR(CheckKey(key));
  RETURN_IF_ERROR(CheckFamily(*table, family));
  Column column{Bytes(family), Bytes(qualifier)};
  const Stored* old = Find(*table, key, column);
  Bytes joined = old ? old->value : Bytes();
  joined += value;
  if (joined.size() > kValueBytesMax) {
    return Status::InvalidArgument("value of " + std::to_string(joined.size()) +
                                   " bytes, at most " + std::to_string(kValueBytesMax));
  }
  int64_t stamp = std::max(NextStamp(), old ? old->timestamp_ms : 0);
  Put(*table, &table->rows[Bytes(key)], std::move(column), std::move(joined), stamp);
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
  const Stored* old = Find(*table, mutation.key, {Bytes(family), Bytes(qualifier)});
  bool as_expected =
      expected ? old != nullptr && old->value == *expected : old == nullptr || old->value.empty();
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
  auto row = table->rows.find(mutation.key);
  const Row now =
      row == table->rows.end() ? Row{} : Select(row->first, row->second, family, {}, false);
  if (now.cells != cells) return false;
  Apply(table, mutation);
  return true;
}

Result<std::unique_ptr<ScanCursor>> ModelStore::Scan(const ScanSpec& spec) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(spec.table));
  if (!spec.family.empty()) RETURN_IF_ERROR(CheckFamily(*table, spec.family));
  if (spec.batch_rows == 0) return Status::InvalidArgument("batch_rows is 0");
  return std::unique_ptr<ScanCursor>(std::make_unique<ModelCursor>(this, spec));
}

Result<std::vector<RegionInfo>> ModelStore::Regions(const std::string& name) {
  std::lock_guard lock(mutex_);
  ASSIGN_OR_RETURN(Table * table, FindTable(name));
  RegionInfo whole;
  for (const auto& [key, row] : table->rows) {
    for (const auto& [column, cell] : row.cells) {
      whole.memory_bytes += key.size() + column.second.size() + cell.value.size();
    }
  }
  return std::vector<RegionInfo>{whole};
}

// One item a line: what it is, then its fields; byte strings as "x" and hexadecimal, so that none
// is empty.
Status ModelStore::SaveTo(const std::string& path) const {
  std::lock_guard lock(mutex_);
  auto hex = [](const Bytes& b) { return "x" + ToHex(b); };
  std::string temporary = path + ".new";
  std::ofstream out(temporary, std::ios::binary | std::ios::trunc);
  out << "stamp " << last_stamp_ms_ << '\n';
  for (const auto& [name, table] : tables_) {
    out << "table " << hex(name) << ' ' << table.descriptor.points;
    for (const auto& family : table.descriptor.families) out << ' ' << hex(family.name);
    out << '\n';
    for (const auto& [key, row] : table.rows) {
      out << "row " << hex(key) << '\n';
      for (const auto& [column, cell] : row.cells) {
        out << "cell " << hex(column.first) << ' ' << hex(column.second) << ' ' << cell.timestamp_ms
            << ' ' << hex(cell.value) << '\n';
      }
      for (const auto& [column, mark] : row.column_marks) {
        out << "gone " << hex(column.first) << ' ' << hex(column.second) << ' ' << mark << '\n';
      }
      for (const auto& [family, mark] : row.family_marks) {
        out << "cleared " << hex(family) << ' ' << mark << '\n';
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
      while (words.good() && unhex(words, &b)) table->descriptor.families.push_back({b});
    } else if (kind == "row" && table && unhex(words, &a)) {
      row = &table->rows[a];
    } else if (kind == "cell" && row && unhex(words, &a) && unhex(words, &b)) {
      Stored& cell = row->cells[{a, b}];
      words >> cell.timestamp_ms;
      unhex(words, &cell.value);
    } else if (kind == "gone" && row && unhex(words, &a) && unhex(words, &b)) {
      words >> row->column_marks[{a, b}];
    } else if (kind == "cleared" && row && unhex(words, &a)) {
      words >> row->family_marks[a];
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
