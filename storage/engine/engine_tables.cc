#include <algorithm>

#include "storage/engine/engine.h"
#include "storage/lsm/table_attributes.h"
#include "storage/region/pre_split.h"
#include "storage/table_name.h"

namespace hg::engine {
namespace {

// Existing families keep their numbers. New families get the next numbers.
Status SetFamilies(const std::vector<FamilyDescriptor>& wanted, lsm::TableEntry* entry) {
  for (FamilyDescriptor& have : entry->families) {
    auto it = std::find_if(wanted.begin(), wanted.end(),
                           [&](const FamilyDescriptor& f) { return f.name == have.name; });
    have = it != wanted.end() ? *it : FamilyDescriptor();
  }
  for (const FamilyDescriptor& family : wanted) {
    const bool known = std::any_of(entry->families.begin(), entry->families.end(),
                                   [&](const auto& have) { return have.name == family.name; });
    if (!known) entry->families.push_back(family);
  }
  if (entry->families.size() <= 255) return {};
  return Status::LimitExceeded("table '" + entry->name +
                               "' has had 255 families, which is the maximum");
}

}  // namespace

// Creates the folder for the files of the table's namespace.
Status Engine::MakeFolderOf(const std::string& table) {
  const std::string space(lsm::NamespaceOf(table));
  return space.empty() ? Status()
                       : env_.files.CreateFolder(lsm::NamespaceFolder(env_.options.path, space));
}

bool Engine::HasFamiliesOf(const TableDescriptor& wanted) const {
  const auto table = tables_.Find(wanted.name);
  return table.ok() && (*table)->descriptor.points == wanted.points &&
         std::all_of(wanted.families.begin(), wanted.families.end(),
                     [&](const FamilyDescriptor& f) { return (*table)->FamilyIndex(f.name) >= 0; });
}

bool Engine::IsOwnTable(const std::string& name) const {
  return std::any_of(env_.options.tables.begin(), env_.options.tables.end(),
                     [&](const TableDescriptor& mine) {
                       return WithoutDefaultNamespace(mine.name) == WithoutDefaultNamespace(name);
                     });
}

Status Engine::CreateTable(const TableDescriptor& wanted) {
  RETURN_IF_ERROR(lsm::CheckDescriptor(wanted));
  // The manifest, which is in memory and is written after each flush, has all split keys.
  for (const Bytes& key : wanted.splits) {
    if (key.size() <= kSplitKeyBytesMax) continue;
    return Status::InvalidArgument("a split key of table '" + wanted.name + "' has " +
                                   std::to_string(key.size()) + " bytes; the maximum is " +
                                   std::to_string(kSplitKeyBytesMax));
  }
  TableDescriptor descriptor = wanted;
  ASSIGN_OR_RETURN(descriptor.name, lsm::TableName(wanted.name));
  return compactor_.ChangeTables([&] { return CreateHeld(descriptor); });
}

// CreateHeld, AlterHeld and DropHeld require that no other thread changes tables.
Status Engine::CreateHeld(const TableDescriptor& descriptor) {
  if (auto known = tables_.Find(descriptor.name); known.ok()) {
    if (lsm::SameDescriptor((*known)->descriptor, descriptor)) return {};
    return Status::Conflict("table exists with another descriptor: " + descriptor.name);
  }
  Edit edit;
  edit.tables = file_set_.Tables();
  if (edit.tables->next_table >= kTablesMax) {
    return Status::LimitExceeded(
        "a store can create " + std::to_string(kTablesMax - 1) +
        " tables in total, including dropped ones; to create more, dump the store and load it "
        "into a new one");
  }
  lsm::TableEntry entry;
  entry.id = edit.tables->next_table++;
  entry.name = descriptor.name;
  entry.points = descriptor.points;
  entry.families = descriptor.families;
  entry.split_policy = descriptor.split_policy;
  const size_t key_width = descriptor.points ? region::GroupWidth(env_.layout()) : SIZE_MAX;
  if (descriptor.points) entry.regions = lsm::SaltRegions(env_.layout());
  ASSIGN_OR_RETURN(entry.regions, region::PreSplit(entry.regions, descriptor.splits, key_width));
  // The limit does not apply to tables that the process itself needs to serve the store.
  if (!IsOwnTable(descriptor.name)) {
    RETURN_IF_ERROR(CheckRegionCount(env_, *file_set_.Pin(), entry.regions.size()));
  }
  for (lsm::RegionEntry& region : entry.regions) region.id = edit.tables->next_region++;
  edit.tables->entries.push_back(entry);
  RETURN_IF_ERROR(MakeFolderOf(entry.name));
  RETURN_IF_ERROR(file_set_.Apply(edit));
  tables_.Add(entry);
  return {};
}

Result<bool> Engine::AlterTable(const TableDescriptor& wanted, const TableDescriptor* before) {
  RETURN_IF_ERROR(lsm::CheckDescriptor(wanted));
  bool changed = false;
  RETURN_IF_ERROR(compactor_.ChangeTables([&] { return AlterHeld(wanted, before, &changed); }));
  return changed;
}

// The daemon could not start without a family of its own tables.
Status Engine::CheckOwnFamilies(const TableDescriptor& wanted) const {
  if (!env_.options.background) return {};
  for (const TableDescriptor& mine : env_.options.tables) {
    if (WithoutDefaultNamespace(mine.name) != wanted.name) continue;
    for (const FamilyDescriptor& needed : mine.families) {
      if (std::any_of(wanted.families.begin(), wanted.families.end(),
                      [&](const FamilyDescriptor& f) { return f.name == needed.name; }))
        continue;
      return Status::InvalidArgument("the running daemon needs family '" + needed.name +
                                     "' of table '" + wanted.name + "', so it cannot be removed");
    }
  }
  return {};
}

Status Engine::AlterHeld(const TableDescriptor& wanted, const TableDescriptor* before,
                         bool* changed) {
  ASSIGN_OR_RETURN(const Table* table, tables_.Find(wanted.name));
  if (before != nullptr && (before->families != table->descriptor.families ||
                            before->split_policy != table->descriptor.split_policy)) {
    return Status::Conflict("table '" + wanted.name + "' was altered at the same time");
  }
  TableDescriptor descriptor = wanted;
  descriptor.name = table->descriptor.name;
  if (descriptor.points != table->descriptor.points || OrderOf(descriptor) != table->order) {
    return Status::InvalidArgument("table '" + descriptor.name +
                                   "' stores its rows in another order than the new attributes "
                                   "need: create the table again");
  }
  const bool has_points =
      std::any_of(descriptor.families.begin(), descriptor.families.end(),
                  [](const FamilyDescriptor& f) { return f.name == points::kFamily; });
  if (table->points_family >= 0 && !has_points) {
    return Status::InvalidArgument("table '" + descriptor.name +
                                   "' holds points in family 't', which cannot be removed");
  }
  RETURN_IF_ERROR(CheckOwnFamilies(descriptor));
  Edit edit;
  edit.tables = file_set_.Tables();
  for (lsm::TableEntry& entry : edit.tables->entries) {
    if (entry.id != table->id) continue;
    RETURN_IF_ERROR(SetFamilies(descriptor.families, &entry));
    entry.split_policy = descriptor.split_policy;
    // The catalog in memory has older attributes than the manifest if an earlier alteration failed
    // after it had written the manifest.
    if (entry.families == table->families && entry.split_policy == table->descriptor.split_policy) {
      return {};
    }
    if (alterations_ >= kAlterationsMax) {
      return Status::LimitExceeded("tables were altered " + std::to_string(alterations_) +
                                   " times since the store was opened, which is the maximum; "
                                   "restart the daemon to alter more tables");
    }
    RETURN_IF_ERROR(file_set_.Apply(edit));
    tables_.Add(entry);
    ++alterations_;
    *changed = true;
    break;
  }
  return {};
}

Status Engine::DropTable(const std::string& name) {
  ASSIGN_OR_RETURN(const Table* table, tables_.Find(name));
  if (table->points_family >= 0) {
    return Status::InvalidArgument("table '" + name +
                                   "' holds the points of this store, so it cannot be dropped");
  }
  // A process with background threads is a daemon, which needs its own tables.
  if (IsOwnTable(table->descriptor.name) && env_.options.background) {
    return Status::InvalidArgument("table '" + name +
                                   "' is in use by the running daemon: stop the daemon first");
  }
  const uint32_t id = table->id;
  std::vector<RegionPlace> places;
  const auto regions = file_set_.Pin()->RegionsOf(id);
  for (size_t region = 0; region < regions.count(); ++region) {
    places.emplace_back(id, regions.Id(region));
  }
  return Released(compactor_.WhileHeld(
      places, [&] { return compactor_.ChangeTables([&] { return DropHeld(*table, places); }); }));
}

// Also requires that all regions of the table are held, so that none of them can be split or
// merged.
Status Engine::DropHeld(const Table& table, const std::vector<RegionPlace>& places) {
  const uint32_t id = table.id;
  const auto before = file_set_.Pin();
  RETURN_IF_ERROR(CheckThere(*before, table));
  const region::RegionMap& regions = before->RegionsOf(id);
  if (regions.count() != places.size() ||
      !std::all_of(places.begin(), places.end(), [&](const RegionPlace& place) {
        return regions.IndexOfId(place.second).has_value();
      })) {
    return Status::Busy("regions of table '" + table.descriptor.name +
                        "' were split or merged at the same time; try again");
  }
  Edit edit;
  edit.tables = file_set_.Tables();
  std::erase_if(edit.tables->entries, [id](const auto& entry) { return entry.id == id; });
  for (const RegionPlace& place : places) {
    const Parts& parts = before->PartsOf(place.first, place.second);
    edit.remove.insert(edit.remove.end(), parts.begin(), parts.end());
  }
  RETURN_IF_ERROR(file_set_.Apply(edit));
  tables_.Remove(table);
  return {};
}

}  // namespace hg::engine
