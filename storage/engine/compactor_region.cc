// Splits and merges regions of an open store (region-store.md §5).

#include <algorithm>
#include <map>

#include "storage/base/invariant.h"
#include "storage/engine/compactor.h"
#include "storage/engine/merge_parts.h"
#include "storage/engine/row_file.h"
#include "storage/region/pre_split.h"
#include "storage/region/region_count.h"

namespace hg::engine {
namespace {

// Maximum number of blocks of a file that are read to estimate the sizes of its row groups.
constexpr size_t kBlocksWeighed = 64;

struct Range {
  Bytes start;
  Bytes stop;  // "" = no end

  [[nodiscard]] bool Holds(ByteView key) const {
    return key >= start && (stop.empty() || key < stop);
  }
};

Bytes Named(const Range& range) {
  return "region [" + region::KeyText(range.start) + ", " + region::KeyText(range.stop) + ")";
}

// Adds the estimated sizes of the file's row groups in the range. The sizes are extrapolated from
// sampled blocks.
template <typename GroupOf>
Status Weigh(const std::shared_ptr<const lsm::BlockFile>& file, const Range& range,
             const GroupOf& group_of, std::map<Bytes, uint64_t>* weights) {
  if (file == nullptr) return {};
  const std::vector<Bytes> blocks = file->Separators();
  const size_t step = (blocks.size() + kBlocksWeighed - 1) / kBlocksWeighed;
  lsm::BlockFileScan scan(file, "", "", lsm::CacheUse::kPast);
  for (size_t block = 0; block < blocks.size(); block += step) {
    scan.Seek(blocks[block]);
    const bool last = block + 1 == blocks.size();
    for (;;) {
      ASSIGN_OR_RETURN(const bool more, scan.Next());
      if (!more || (!last && scan.key() >= blocks[block + 1])) break;
      Bytes group = group_of(scan.key());
      if (range.Holds(group)) {
        (*weights)[std::move(group)] += (scan.key().size() + scan.value().size()) * step;
      }
    }
  }
  return {};
}

Result<bool> AnyRow(const std::shared_ptr<const lsm::BlockFile>& file, const Bytes& start,
                    const Bytes& stop) {
  if (file == nullptr) return false;
  lsm::BlockFileScan scan(file, start, stop, lsm::CacheUse::kPast);
  return scan.Next();
}

std::vector<lsm::RegionEntry>& RegionsIn(TableList* tables, uint32_t table) {
  const auto entry = std::find_if(tables->entries.begin(), tables->entries.end(),
                                  [&](const auto& t) { return t.id == table; });
  INVARIANT(entry != tables->entries.end());
  return entry->regions;
}

}  // namespace

std::vector<region::GroupWeight> Compactor::WeightsOf(const Table& table, const Parts& parts,
                                                      const Bytes& start, const Bytes& stop,
                                                      Status* failed) const {
  const Range range{start, stop};
  const bool points = table.descriptor.points;
  const TableSplitPolicy& policy = table.descriptor.split_policy;
  const auto group_of_row = [&](const Bytes& key) {
    if (points) return key.substr(0, region::GroupWidth(layout()));
    Bytes group(region::GroupOf(policy, key));
    // The region may begin inside a group, for example with a split key of a new table.
    return group < start && key >= start ? start : group;
  };
  const auto metric_width = static_cast<size_t>(layout().metric_width);
  const Bytes salt = SaltOf(start);
  std::map<Bytes, uint64_t> weights;
  for (const auto& part : parts) {
    *failed = Weigh(part->cells(), range, group_of_row, &weights);
    if (!failed->ok()) return {};
    const auto group_of_file_key = [&](const Bytes& key) {
      return salt + key.substr(0, metric_width) + key.substr(key.size() - 4);
    };
    *failed = Weigh(part->points(), range, group_of_file_key, &weights);
    if (!failed->ok()) return {};
  }
  std::vector<region::GroupWeight> groups;
  for (const auto& [key, bytes] : weights) groups.push_back({key, bytes});
  return groups;
}

// Sets *before to whether the part may have rows of the region before the key, and *behind to
// whether it may have rows from the key on. A value may be true although there are no such rows,
// because the function does not read all rows.
Status Compactor::SidesOf(const Part& part, const Bytes& start, const Bytes& key, bool* before,
                          bool* behind) const {
  ASSIGN_OR_RETURN(*before, AnyRow(part.cells(), "", key));
  ASSIGN_OR_RETURN(*behind, AnyRow(part.cells(), key, ""));
  const Bytes salt = SaltOf(start);
  const Bytes metric =
      key.substr(std::min(salt.size(), key.size()), static_cast<size_t>(layout().metric_width));
  Bytes points_stop = metric;
  // If the key is longer than salt and metric, rows of that metric may lie on both sides of it.
  if (key.size() > salt.size() + metric.size()) points_stop += '\xFF';
  if (SaltOf(key) == salt) {
    ASSIGN_OR_RETURN(const bool behind_points, AnyRow(part.points(), metric, ""));
    *behind = *behind || behind_points;
    if (metric.empty()) return {};
  } else {
    points_stop.clear();  // all points of the region have the salt of its first key
  }
  ASSIGN_OR_RETURN(const bool before_points, AnyRow(part.points(), "", points_stop));
  *before = *before || before_points;
  return {};
}

// Returns the salt of the points in a region that begins with `start`.
Bytes Compactor::SaltOf(const Bytes& start) const {
  Bytes salt = start.substr(0, static_cast<size_t>(layout().salt_width));
  salt.resize(static_cast<size_t>(layout().salt_width), '\0');
  return salt;
}

Result<Bytes> Compactor::Split(const Table& table, ByteView key_of_region,
                               const std::optional<Bytes>& at) {
  for (;;) {
    const auto before = file_set_.Pin();
    RETURN_IF_ERROR(CheckThere(*before, table));
    const RegionPlace place{table.id, before->RegionsOf(table.id).IdOf(key_of_region)};
    bool there = false;
    Result<Bytes> key = Bytes();
    RETURN_IF_ERROR(WhileHeld({place}, [&]() -> Status {
      // The region may have been split, merged or dropped before it was held. From here on the
      // region cannot change: dropping a table requires holding all its regions.
      RETURN_IF_ERROR(CheckThere(*file_set_.Pin(), table));
      there = file_set_.Pin()->RegionsOf(table.id).IndexOfId(place.second).has_value();
      if (there) key = SplitHeld(table, place, at);
      return key.status();
    }));
    if (!there) continue;
    WakeMerges();
    return key;
  }
}

Result<Bytes> Compactor::SplitHeld(const Table& table, RegionPlace place,
                                   const std::optional<Bytes>& at) {
  const auto before = file_set_.Pin();
  const region::RegionMap& regions = before->RegionsOf(table.id);
  const size_t index = *regions.IndexOfId(place.second);
  const Range range{regions.Start(index), regions.Stop(index)};
  const Parts& parts = before->PartsOf(place.first, place.second);
  if (std::any_of(parts.begin(), parts.end(),
                  [](const auto& part) { return part->entry().reference; }))
    return Status::Conflict(Named(range) + " of table " + table.descriptor.name +
                            " cannot be split again before a merge has rewritten its files");
  const bool points = table.descriptor.points;
  Bytes key;
  if (at) {
    key = points ? at->substr(0, region::GroupWidth(layout()))
                 : Bytes(region::GroupOf(table.descriptor.split_policy, *at));
    if (key.empty() || !range.Holds(key) || key == range.start) {
      return Status::InvalidArgument("split key " + region::KeyText(*at) +
                                     " is outside of, or the start of, the " + Named(range) +
                                     " of table " + table.descriptor.name);
    }
  } else {
    Status failed;
    const auto groups = WeightsOf(table, parts, range.start, range.stop, &failed);
    RETURN_IF_ERROR(failed);
    const auto point = region::SplitPoint(groups, points ? &layout() : nullptr);
    if (!point) {
      return Status::Conflict(Named(range) + " of table " + table.descriptor.name +
                              " cannot be split, because its files contain only one group of rows");
    }
    key = *point;
  }
  INVARIANT(range.Holds(key) && key != range.start);

  MutexLock no_flush(regions_mutex_);
  RETURN_IF_ERROR(env_.CheckOpen());
  RETURN_IF_ERROR(CheckRegionCount(env_, *file_set_.Pin(), 1));
  Edit edit;
  edit.remove = file_set_.Pin()->PartsOf(place.first, place.second);
  edit.tables = file_set_.Tables();
  auto& entries = RegionsIn(&*edit.tables, table.id);
  const auto parent = std::find_if(entries.begin(), entries.end(),
                                   [&](const auto& entry) { return entry.id == place.second; });
  const uint32_t left = edit.tables->next_region++;
  const uint32_t right = edit.tables->next_region++;
  parent->id = left;
  entries.insert(parent + 1, {right, key});
  for (const auto& part : edit.remove) {
    bool sides[2];
    RETURN_IF_ERROR(SidesOf(*part, range.start, key, &sides[0], &sides[1]));
    for (const size_t side : {0, 1}) {
      if (!sides[side]) continue;
      lsm::PartEntry entry = part->entry();
      entry.region = side == 0 ? left : right;
      entry.reference = sides[0] && sides[1];
      edit.add.push_back(entry);
    }
  }
  RETURN_IF_ERROR(file_set_.Apply(edit));
  EndWork(BeginWork(StoreWork::Kind::kSplit, table.id));
  return key;
}

Status Compactor::MergeRegions(const Table& table, const Bytes& boundary, RequestContext* context) {
  const auto salt_width = static_cast<size_t>(layout().salt_width);
  if (table.descriptor.points && salt_width > 0 && boundary.size() == salt_width &&
      ReadBig(boundary.data(), layout().salt_width) <
          static_cast<uint64_t>(layout().salt_buckets)) {
    return Status::InvalidArgument("the regions before and behind " + region::KeyText(boundary) +
                                   " belong to different salt buckets, which cannot be merged");
  }
  for (;;) {
    const auto before = file_set_.Pin();
    RETURN_IF_ERROR(CheckThere(*before, table));
    const region::RegionMap& regions = before->RegionsOf(table.id);
    const size_t index = regions.IndexOf(boundary);
    if (index == 0 || regions.Start(index) != boundary) {
      return Status::InvalidArgument("table " + table.descriptor.name +
                                     " has no boundary between two regions at " +
                                     region::KeyText(boundary));
    }
    const std::vector<RegionPlace> places = {{table.id, regions.Id(index - 1)},
                                             {table.id, regions.Id(index)}};
    bool there = false;
    const Status status = WhileHeld(places, [&]() -> Status {
      const auto now = file_set_.Pin();
      RETURN_IF_ERROR(CheckThere(*now, table));
      there = std::all_of(places.begin(), places.end(), [&](const RegionPlace& place) {
        return now->RegionsOf(table.id).IndexOfId(place.second).has_value();
      });
      return there ? MergeHeld(table, places[0], places[1], context) : Status();
    });
    if (there || !status.ok()) return status;
  }
}

// Rewrites the files of both regions. Meanwhile, flushes may add small parts. These parts are
// rewritten afterwards, while flushes wait, so that the sequence numbers of the new region's parts
// never overlap.
Status Compactor::MergeHeld(const Table& table, RegionPlace left, RegionPlace right,
                            RequestContext* context) {
  const auto before = file_set_.Pin();
  const region::RegionMap& regions = before->RegionsOf(table.id);
  const size_t index = *regions.IndexOfId(left.second);
  const Bytes start = regions.Start(index), middle = regions.Start(index + 1),
              stop = regions.Stop(index + 1);
  const auto inputs_of = [&](const Version& version, const Version* but) {
    std::vector<MergeInput> inputs;
    for (const RegionPlace& place : {left, right}) {
      for (const auto& part : version.PartsOf(place.first, place.second)) {
        if (but != nullptr) {
          const Parts& old = but->PartsOf(place.first, place.second);
          if (std::find(old.begin(), old.end(), part) != old.end()) continue;
        }
        inputs.push_back({part, place == left ? start : middle, place == left ? middle : stop});
      }
    }
    return inputs;
  };
  const RegionPlace joined{table.id, 0};  // the region gets its id when it is created
  Edit edit;
  const auto write = [&](std::vector<MergeInput> inputs, bool bottom,
                         std::vector<lsm::PartEntry>* written) -> Status {
    if (inputs.empty()) return {};
    return WriteMerged(joined, std::move(inputs), bottom, false, context, written);
  };
  RETURN_IF_ERROR(write(inputs_of(*before, nullptr), true, &edit.add));

  MutexLock no_flush(regions_mutex_);
  std::vector<lsm::PartEntry> newer;
  const Status status = Survive([&]() -> Status {
    RETURN_IF_ERROR(env_.CheckOpen());
    const auto now = file_set_.Pin();
    RETURN_IF_ERROR(write(inputs_of(*now, before.get()), false, &newer));
    edit.add.insert(edit.add.begin(), newer.begin(), newer.end());
    edit.tables = file_set_.Tables();
    const uint32_t id = edit.tables->next_region++;
    for (lsm::PartEntry& entry : edit.add) entry.region = id;
    auto& entries = RegionsIn(&*edit.tables, table.id);
    const auto at = std::find_if(entries.begin(), entries.end(),
                                 [&](const auto& entry) { return entry.id == left.second; });
    at->id = id;
    entries.erase(at + 1);
    for (const RegionPlace& place : {left, right}) {
      const Parts& parts = now->PartsOf(place.first, place.second);
      edit.remove.insert(edit.remove.end(), parts.begin(), parts.end());
    }
    return {};
  });
  if (!status.ok()) {
    file_set_.RemoveFiles(edit.add);
    file_set_.RemoveFiles(newer);
    return status;
  }
  return file_set_.Apply(edit);
}

Status Compactor::SplitWhereDue() {
  region::SplitPolicy policy = env_.options.split;
  const uint64_t regions_max =
      std::min<uint64_t>(policy.regions_max, region::RegionsWithin(env_.options.open_files_max));
  Status first;
  for (const Table* table : tables_.All()) {
    policy.rule = region::RuleOf(env_.options.split, table->descriptor.split_policy);
    if (policy.rule == region::SplitRule::kNone) continue;
    const auto version = file_set_.Pin();
    const region::RegionMap& regions = version->RegionsOf(table->id);
    for (size_t i = 0; i < regions.count(); ++i) {
      if (CountRegions(*file_set_.Pin()) >= regions_max) return first;
      const RegionPlace place{table->id, regions.Id(i)};
      uint64_t bytes = 0;
      bool references = false;
      for (const auto& part : version->PartsOf(place.first, place.second)) {
        bytes += part->bytes();
        references = references || part->entry().reference;
      }
      const auto threshold = region::SplitThreshold(policy, regions.count(), place.second);
      if (references || !threshold || bytes < *threshold) continue;
      // A region with a single row group cannot be split. It is checked again when its size has
      // doubled, or when the table has been altered.
      const auto once = cannot_split_.find(place);
      if (once != cannot_split_.end() && once->second.table == table && bytes < once->second.bytes)
        continue;
      const auto split = Split(*table, regions.Start(i), {});
      if (split.status().code() == StatusCode::kConflict) {
        cannot_split_[place] = {table, 2 * bytes};
      } else if (first.ok() && split.status().code() != StatusCode::kNotFound) {
        first = Prepend(split.status(), NameOf(place));
      }
    }
  }
  return first;
}

}  // namespace hg::engine
