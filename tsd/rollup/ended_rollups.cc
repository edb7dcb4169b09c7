#include "tsd/rollup/ended_rollups.h"

#include <algorithm>

#include "tsd/rollup/rollup_making.h"

namespace hg::tsd {
namespace {

constexpr uint32_t kDay = 86'400;

}  // namespace

Result<std::unique_ptr<EndedRollups>> EndedRollups::Open(Store& store, const std::string& table) {
  std::unique_ptr<EndedRollups> ended(new EndedRollups(store, table));
  ASSIGN_OR_RETURN(StoredRollupState stored, ended->table_.Load());
  ended->kept_ = std::move(stored.kept);
  for (const auto& [level, made] : stored.made) ended->places_.push_back(PlaceIn(made));
  return ended;
}

Result<uint32_t> EndedRollups::KeepBefore(const Bytes& metric, uint32_t wanted) {
  const auto known = kept_.find(metric);
  const KeptRollups old = known != kept_.end() ? known->second : KeptRollups();
  const uint32_t bound = wanted - wanted % kDay;
  if (bound <= old.before) return std::min(old.before, wanted);
  // It ended while all was being made anew: what was kept till then still is.
  std::vector<Bytes> places = places_;
  if (places.empty())
    for (const auto& [place, begin] : old.begins) places.push_back(place);
  KeptRollups kept = old.UpTo(bound, places);
  RETURN_IF_ERROR(table_.PutKept(metric, old, kept));
  kept_[metric] = std::move(kept);
  return bound;
}

}  // namespace hg::tsd
