#include "tsd/rollup/ended_rollups.h"

#include <algorithm>
#include <limits>

#include "storage/model/timestamp.h"
#include "tsd/rollup/rollup_making.h"

namespace hg::tsd {
Result<std::unique_ptr<EndedRollups>> EndedRollups::Open(Store& store, const std::string& table) {
  std::unique_ptr<EndedRollups> ended(new EndedRollups(store, table));
  ASSIGN_OR_RETURN(StoredRollupState stored, ended->table_.Load());
  ended->kept_ = std::move(stored.kept);
  ended->complete_ = stored.complete;
  ended->filled_ = std::move(stored.filled);
  // If there is no start, the rollups were being recomputed. Then levels may be missing, and no day
  // is complete.
  if (!stored.start || stored.made.empty()) return ended;
  uint32_t whole = std::numeric_limits<uint32_t>::max();
  for (const auto& [level, made] : stored.made) {
    ended->places_.push_back(PlaceIn(made));
    whole = std::min(whole, stored.whole[level]);
  }
  ended->whole_ = whole - whole % kDayS;
  return ended;
}

Result<uint32_t> EndedRollups::KeepBefore(const Bytes& metric, uint32_t wanted) {
  const auto known = kept_.find(metric);
  const KeptRollups old = known != kept_.end() ? known->second : KeptRollups();
  const uint32_t bound = wanted - wanted % kDayS;
  if (bound <= old.before) return std::min(old.before, wanted);
  const uint32_t rolled = complete_ || filled_.contains(metric) ? std::min(bound, whole_) : 0;
  if (rolled <= old.before) return bound;
  KeptRollups kept = old.UpTo(rolled, places_);
  RETURN_IF_ERROR(table_.PutKept(metric, old, kept));
  kept_[metric] = std::move(kept);
  return bound;
}

}  // namespace hg::tsd
