#include "storage/points/watched_points.h"

#include <algorithm>

namespace hg {

void ChangeListeners::Add(std::shared_ptr<ChangeListener> listener) {
  std::lock_guard lock(mutex_);
  auto more = std::make_shared<All>(*all_);
  more->push_back(std::move(listener));
  all_ = std::move(more);
}

std::shared_ptr<const ChangeListeners::All> ChangeListeners::all() const {
  std::lock_guard lock(mutex_);
  return all_;
}

void ChangeListeners::AfterAlteration() const {
  for (const auto& listener : *all()) listener->AfterAlteration();
}

Status ToldRows::Tell(ByteView metric, uint32_t base) {
  const uint32_t hour = base - base % kRowSpan;
  RETURN_IF_ERROR(TellHour({metric, hour}));
  if (hour == base || hour > UINT32_MAX - kRowSpan) return {};
  return TellHour({metric, hour + kRowSpan});
}

Status ToldRows::TellHour(const ChangedRows& rows) {
  if (!told_.empty() && told_.back().rows == rows) return {};
  if (!known_.insert(rows).second) return {};
  if (all_ == nullptr) all_ = listeners_.all();
  Told& told = told_.emplace_back(Told{rows});
  for (const auto& listener : *all_) {
    RETURN_IF_ERROR(listener->BeforeChange(rows));
    ++told.listeners;
  }
  return {};
}

// A listener that was added during the write may have scanned before the change, so it is notified
// as well.
void ToldRows::TellAfter() const {
  const auto now = listeners_.all();
  for (const Told& told : told_) {
    for (size_t i = 0; i < now->size(); ++i) {
      if (i < told.listeners || i >= all_->size()) (*now)[i]->AfterChange(told.rows);
    }
  }
}

}  // namespace hg
