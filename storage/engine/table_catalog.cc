#include "storage/engine/table_catalog.h"

#include <algorithm>

#include "storage/base/invariant.h"
#include "storage/lsm/table_attributes.h"
#include "storage/points/row_codec.h"
#include "storage/region/pre_split.h"
#include "storage/table_name.h"

namespace hg::engine {
namespace {

TableDescriptor DescriptorOf(const lsm::TableEntry& entry) {
  TableDescriptor descriptor{entry.name, entry.families, entry.points, {}, entry.split_policy};
  std::erase_if(descriptor.families, [](const FamilyDescriptor& f) { return f.name.empty(); });
  return descriptor;
}

}  // namespace

lsm::CellOrder OrderOf(const TableDescriptor& table) {
  const bool by_arrival =
      table.points && std::all_of(table.families.begin(), table.families.end(), lsm::FitsPoints);
  return by_arrival ? lsm::CellOrder::kByArrival : lsm::CellOrder::kByTime;
}

Status CheckThere(const Version& version, const Table& table) {
  if (version.regions.contains(table.id)) return {};
  return Status::NotFound("no such table: " + table.descriptor.name);
}

void TableCatalog::Add(const lsm::TableEntry& entry) {
  auto table = std::make_unique<Table>();
  table->id = entry.id;
  table->descriptor = DescriptorOf(entry);
  table->families = entry.families;
  table->order = OrderOf(table->descriptor);
  WriterLock lock(mutex_);
  // The first points table backs the point store. Any other points table stores its points as
  // cells.
  const Table* points = points_.load();
  if (table->order == lsm::CellOrder::kByArrival && (points == nullptr || points->id == entry.id)) {
    table->points_family = table->FamilyIndex(points::kFamily);
    if (table->points_family >= 0) points_.store(table.get());
  }
  by_id_[entry.id] = table.get();
  by_name_[entry.name] = table.get();
  tables_.push_back(std::move(table));
}

void TableCatalog::Remove(const Table& table) {
  WriterLock lock(mutex_);
  INVARIANT(by_name_.erase(table.descriptor.name) == 1);
  INVARIANT(by_id_.erase(table.id) == 1);
}

Result<const Table*> TableCatalog::Find(const std::string& name) const {
  ReaderLock lock(mutex_);
  const auto it = by_name_.find(std::string(WithoutDefaultNamespace(name)));
  if (it == by_name_.end()) return Status::NotFound("no such table: " + name);
  return it->second;
}

const Table* TableCatalog::ById(uint32_t id) const {
  ReaderLock lock(mutex_);
  const auto it = by_id_.find(id);
  return it == by_id_.end() ? nullptr : it->second;
}

std::vector<const Table*> TableCatalog::All() const {
  ReaderLock lock(mutex_);
  std::vector<const Table*> all;
  for (const auto& [name, table] : by_name_) all.push_back(table);
  return all;
}

std::string TableCatalog::SpaceOf(uint32_t id) const {
  const Table* const table = ById(id);
  return table != nullptr ? std::string(lsm::NamespaceOf(table->descriptor.name)) : "";
}

std::string TableCatalog::NameOf(const Version& version, RegionPlace place) const {
  const Table* const table = ById(place.first);
  if (table == nullptr) return "series";
  const region::RegionMap& regions = version.RegionsOf(place.first);
  std::string name = "table " + table->descriptor.name;
  if (const auto index = regions.IndexOfId(place.second)) {
    name += ", region [" + region::KeyText(regions.Start(*index)) + ", " +
            region::KeyText(regions.Stop(*index)) + ")";
  }
  return name;
}

}  // namespace hg::engine
