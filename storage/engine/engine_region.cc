// Regions of the running store: dividing and joining them (engine.md §10, spec region-store.md §5).

#include <algorithm>
#include <map>

#include "storage/base/invariant.h"
#include "storage/engine/engine.h"
#include "storage/engine/merge_runs.h"
#include "storage/engine/row_file.h"
#include "storage/region/pre_split.h"

namespace hg::points {
namespace {

// Blocks of a file that are looked into to weigh its rows.
constexpr size_t kBlocksWeighed = 64;

struct Range {
  Bytes start;
  Bytes stop;  // "" = open

  [[nodiscard]] bool Holds(ByteView key) const {
    return key >= start && (stop.empty() || key < stop);
  }
};

Bytes Named(const Range& range) {
  return "region [" + region::KeyText(range.start) + ", " + region::KeyText(range.stop) + ")";
}

// Adds the weights of the groups that a file has in the range: of all entries, as its sampled
// blocks have them.
template <typename GroupOf>
Status Weigh(const std::shared_ptr<const lsm::BlockFile>& file, const Range& range,
             const GroupOf& group_of, std::map<Bytes, uint64_t>* weights) {
  if (file == nullptr) return {};
  const std::vector<Bytes> blocks = file->FirstKeys();
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

}  // namespace

std::vector<region::GroupWeight> Engine::WeightsOf(const Table& table, const Runs& runs,
                                                   const Bytes& start, const Bytes& stop,
                                                   Status* failed) const {
  const Range range{start, stop};
  const bool points = table.descriptor.points;
  const size_t width = points ? region::GroupWidth(layout()) : SIZE_MAX;
  const auto metric_width = static_cast<size_t>(layout().metric_width);
  const Bytes salt = SaltOf(start);
  std::map<Bytes, uint64_t> weights;
  for (const auto& run : runs) {
    *failed = Weigh(
        run->cells(), range, [&](const Bytes& key) { return key.substr(0, width); }, &weights);
    if (!failed->ok()) return {};
    const auto group_of_file_key = [&](const Bytes& key) {
      return salt + key.substr(0, metric_width) + key.substr(key.size() - 4);
    };
    *failed = Weigh(run->points(), range, group_of_file_key, &weights);
    if (!failed->ok()) return {};
  }
  std::vector<region::GroupWeight> groups;
  for (const auto& [key, bytes] : weights) groups.push_back({key, bytes});
  return groups;
}

// Whether a run of the region has rows before the key, and from it on; both where only reading it
// would tell.
Status Engine::SidesOf(const Run& run, const Bytes& start, const Bytes& key, bool* before,
                       bool* behind) const {
  ASSIGN_OR_RETURN(*before, AnyRow(run.cells(), "", key));
  ASSIGN_OR_RETURN(*behind, AnyRow(run.cells(), key, ""));
  const Bytes salt = SaltOf(start);
  const Bytes metric =
      key.substr(std::min(salt.size(), key.size()), static_cast<size_t>(layout().metric_width));
  Bytes points_stop = metric;
  if (key.size() > salt.size() + metric.size()) points_stop += '\xFF';  // a metric that is cut
  if (SaltOf(key) == salt) {
    ASSIGN_OR_RETURN(const bool behind_points, AnyRow(run.points(), metric, ""));
    *behind = *behind || behind_points;
    if (metric.empty()) return {};
  } else {
    points_stop.clear();  // the points of the region are of its first salt
  }
  ASSIGN_OR_RETURN(const bool before_points, AnyRow(run.points(), "", points_stop));
  *before = *before || before_points;
  return {};
}

// Of the points of a region that begins with the key.
Bytes Engine::SaltOf(const Bytes& start) const {
  Bytes salt = start.substr(0, static_cast<size_t>(layout().salt_width));
  salt.resize(static_cast<size_t>(layout().salt_width), '\0');
  return salt;
}

Result<Bytes> Engine::Split(const Table& table, ByteView key_of_region,
                            const std::optional<Bytes>& at) {
  for (;;) {
    const auto before = Pin();
    const RegionPlace place{table.id, before->RegionsOf(table.id).IdOf(key_of_region)};
    bool there = false;
    Result<Bytes> key = Bytes();
    RETURN_IF_ERROR(WhileHeld({place}, [&] {
      // Somebody else may have divided it while it was waited for.
      there = Pin()->RegionsOf(table.id).IndexOfId(place.second).has_value();
      if (there) key = SplitHeld(table, place, at);
      return key.status();
    }));
    if (!there) continue;
    WakeMerges();
    return key;
  }
}

Result<Bytes> Engine::SplitHeld(const Table& table, RegionPlace place,
                                const std::optional<Bytes>& at) {
  const auto before = Pin();
  const region::RegionMap& regions = before->RegionsOf(table.id);
  const size_t index = *regions.IndexOfId(place.second);
  const Range range{regions.Start(index), regions.Stop(index)};
  const Runs& runs = before->RunsOf(place.first, place.second);
  if (std::any_of(runs.begin(), runs.end(), [](const auto& run) { return run->entry().reference; }))
    return Status::Conflict(Named(range) + " of table " + table.descriptor.name +
                            " cannot be divided again before a merge has rewritten its files");
  const bool points = table.descriptor.points;
  Bytes key;
  if (at) {
    key = points ? at->substr(0, region::GroupWidth(layout())) : *at;
    if (key.empty() || !range.Holds(key) || key == range.start) {
      return Status::InvalidArgument("split key " + region::KeyText(*at) +
                                     " is outside of, or the start of, the " + Named(range) +
                                     " of table " + table.descriptor.name);
    }
  } else {
    Status failed;
    const auto groups = WeightsOf(table, runs, range.start, range.stop, &failed);
    RETURN_IF_ERROR(failed);
    const auto point = region::SplitPoint(groups, points ? &layout() : nullptr);
    if (!point) {
      return Status::Conflict(Named(range) + " of table " + table.descriptor.name +
                              " cannot be divided: its files hold no two groups of rows");
    }
    key = *point;
  }
  INVARIANT(range.Holds(key) && key != range.start);

  std::lock_guard maintenance(maintenance_);
  RETURN_IF_ERROR(CheckOpen());
  auto next = std::make_shared<Version>(*Pin());
  lsm::Manifest manifest = manifest_;
  auto& entries = RegionsIn(&manifest, table.id);
  const auto parent = std::find_if(entries.begin(), entries.end(),
                                   [&](const auto& entry) { return entry.id == place.second; });
  const RegionPlace left{table.id, manifest.next_region++};
  const RegionPlace right{table.id, manifest.next_region++};
  parent->id = left.second;
  entries.insert(parent + 1, {right.second, key});
  const Runs parents = next->RunsOf(place.first, place.second);
  RemoveEntries(place, parents, &manifest);
  next->runs.erase(place);
  for (const auto& run : parents) {
    bool sides[2];
    RETURN_IF_ERROR(SidesOf(*run, range.start, key, &sides[0], &sides[1]));
    const bool reference = sides[0] && sides[1];
    for (const size_t side : {0, 1}) {
      if (!sides[side]) continue;
      const RegionPlace child = side == 0 ? left : right;
      lsm::RunEntry entry = run->entry();
      entry.region = child.second;
      entry.reference = reference;
      manifest.runs.push_back(entry);
      next->runs[child].push_back(std::make_shared<Run>(entry, run->files()));
    }
  }
  next->regions[table.id] = std::make_shared<region::RegionMap>(RegionsIn(&manifest, table.id));
  RETURN_IF_ERROR(Publish(std::move(manifest), std::move(next)));
  RetireUnnamed(parents);
  EndWork(BeginWork(StoreWork::Kind::kSplit, table.id));
  return key;
}

std::vector<lsm::RegionEntry>& Engine::RegionsIn(lsm::Manifest* manifest, uint32_t table) {
  const auto entry = std::find_if(manifest->tables.begin(), manifest->tables.end(),
                                  [&](const auto& t) { return t.id == table; });
  INVARIANT(entry != manifest->tables.end());
  return entry->regions;
}

Status Engine::MergeRegions(const Table& table, const Bytes& boundary) {
  const auto salt_width = static_cast<size_t>(layout().salt_width);
  if (table.descriptor.points && salt_width > 0 && boundary.size() == salt_width &&
      ReadBig(boundary.data(), layout().salt_width) <
          static_cast<uint64_t>(layout().salt_buckets)) {
    return Status::InvalidArgument("the regions before and behind " + region::KeyText(boundary) +
                                   " are of different salt buckets, which are never joined");
  }
  for (;;) {
    const auto before = Pin();
    const region::RegionMap& regions = before->RegionsOf(table.id);
    const size_t index = regions.IndexOf(boundary);
    if (index == 0 || regions.Start(index) != boundary) {
      return Status::InvalidArgument("no region of table " + table.descriptor.name +
                                     " but the first begins with " + region::KeyText(boundary));
    }
    const std::vector<RegionPlace> places = {{table.id, regions.Id(index - 1)},
                                             {table.id, regions.Id(index)}};
    bool there = false;
    const Status status = WhileHeld(places, [&] {
      const auto now = Pin();
      there = std::all_of(places.begin(), places.end(), [&](const RegionPlace& place) {
        return now->RegionsOf(table.id).IndexOfId(place.second).has_value();
      });
      return there ? MergeHeld(table, places[0], places[1]) : Status();
    });
    if (there || !status.ok()) return status;
  }
}

// The files of both are rewritten. What is flushed meanwhile is small, and is rewritten
// while flushes wait: so runs of the region never overlap in sequence.
Status Engine::MergeHeld(const Table& table, RegionPlace left, RegionPlace right) {
  const auto before = Pin();
  const region::RegionMap& regions = before->RegionsOf(table.id);
  const size_t index = *regions.IndexOfId(left.second);
  const Bytes start = regions.Start(index), middle = regions.Start(index + 1),
              stop = regions.Stop(index + 1);
  const auto inputs_of = [&](const Version& version, const Version* but) {
    std::vector<MergeInput> inputs;
    for (const RegionPlace& place : {left, right}) {
      for (const auto& run : version.RunsOf(place.first, place.second)) {
        if (but != nullptr) {
          const Runs& old = but->RunsOf(place.first, place.second);
          if (std::find(old.begin(), old.end(), run) != old.end()) continue;
        }
        inputs.push_back({run, place == left ? start : middle, place == left ? middle : stop});
      }
    }
    return inputs;
  };
  RegionPlace joined{table.id, 0};  // named when it is made
  std::vector<lsm::RunEntry> written;
  const auto write = [&](std::vector<MergeInput> inputs, bool bottom) -> Status {
    if (inputs.empty()) return {};
    return WriteMerged(joined, std::move(inputs), bottom, false, &written);
  };
  RETURN_IF_ERROR(write(inputs_of(*before, nullptr), true));

  std::lock_guard maintenance(maintenance_);
  std::shared_ptr<Version> next;
  lsm::Manifest manifest;
  Runs gone;
  const Status status = Survive([&]() -> Status {
    RETURN_IF_ERROR(CheckOpen());
    const auto now = Pin();
    RETURN_IF_ERROR(write(inputs_of(*now, before.get()), false));
    next = std::make_shared<Version>(*now);
    manifest = manifest_;
    joined.second = manifest.next_region++;
    auto& entries = RegionsIn(&manifest, table.id);
    const auto at = std::find_if(entries.begin(), entries.end(),
                                 [&](const auto& entry) { return entry.id == left.second; });
    at->id = joined.second;
    entries.erase(at + 1);
    for (const RegionPlace& place : {left, right}) {
      const Runs& runs = now->RunsOf(place.first, place.second);
      RemoveEntries(place, runs, &manifest);
      gone.insert(gone.end(), runs.begin(), runs.end());
      next->runs.erase(place);
    }
    for (lsm::RunEntry& entry : written) {
      entry.region = joined.second;
      ASSIGN_OR_RETURN(auto files, OpenFiles(entry));
      Runs& runs = next->runs[joined];
      runs.insert(runs.begin(), std::make_shared<Run>(entry, std::move(files)));
      manifest.runs.push_back(entry);
    }
    next->regions[table.id] = std::make_shared<region::RegionMap>(RegionsIn(&manifest, table.id));
    return {};
  });
  if (!status.ok()) {
    for (const lsm::RunEntry& entry : written) RemoveRunFiles(entry);
    return status;
  }
  RETURN_IF_ERROR(Publish(std::move(manifest), std::move(next), written));
  RetireUnnamed(gone);
  return {};
}

Status Engine::SplitWhereDue() {
  const region::SplitPolicy& policy = options_.split;
  if (policy.rule == region::SplitRule::kNone) return {};
  Status first;
  for (const Table* table : Tables()) {
    const auto version = Pin();
    const region::RegionMap& regions = version->RegionsOf(table->id);
    for (size_t i = 0; i < regions.count(); ++i) {
      if (CountRegions(*Pin()) >= policy.regions_max) return first;
      const RegionPlace place{table->id, regions.Id(i)};
      uint64_t bytes = 0;
      bool references = false;
      for (const auto& run : version->RunsOf(place.first, place.second)) {
        bytes += run->bytes();
        references = references || run->entry().reference;
      }
      const auto threshold = region::SplitThreshold(policy, regions.count(), place.second);
      if (references || !threshold || bytes < *threshold) continue;
      // One group of rows stays as it is; its region is weighed anew when it has grown.
      if (bytes < cannot_split_[place]) continue;
      const auto split = Split(*table, regions.Start(i), {});
      if (split.status().code() == StatusCode::kConflict) {
        cannot_split_[place] = 2 * bytes;
      } else if (first.ok()) {
        first = Prepend(split.status(), NameOf(place));
      }
    }
  }
  return first;
}

size_t Engine::CountRegions(const Version& version) {
  size_t count = 0;
  for (const auto& [table, regions] : version.regions) count += regions->count();
  return count;
}

}  // namespace hg::points
