#include "storage/region/window_policy.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "storage/region/spread.h"

namespace hg::region {
namespace {

// This many parts that were rewritten equally often are merged into one. The number differs between
// regions, because regions are flushed together and should not all merge at once.
constexpr size_t kLevelPartsMin = 6, kLevelPartsMax = 10;
// If a region has this many parts that are wider than any window, they are merged, and the result
// is divided by windows.
constexpr size_t kWideParts = 8;
// A window counts as over this many ms after its end, at the earliest. By then its data has been
// flushed, because memory is flushed when its data is an hour old. In a window that is over, parts
// that were flushed less than this time ago are not merged yet.
constexpr int64_t kRestMs = 2 * 3'600'000;

size_t LevelParts(uint64_t oldest) {
  return kLevelPartsMin +
         static_cast<size_t>((kLevelPartsMax - kLevelPartsMin + 1) * Spread(oldest));
}

class Chooser {
 public:
  Chooser(std::span<const PartFacts> parts, const MergePolicy& policy, int64_t now_ms)
      : parts_(parts), policy_(policy), now_ms_(now_ms) {
    for (size_t i = 0; i < parts.size(); ++i) {
      busy_ = busy_ || parts[i].merging;
      if (parts[i].merging || parts[i].reference) continue;
      const RowSpan& rows = parts[i].rows;
      if (!rows.has_rows()) {
        loose_.push_back(i);
      } else if (const Window window = Window::Around(rows);
                 rows.loose || window.level >= kWindowLevels) {
        wide_.push_back(i);
      } else {
        windows_[window].push_back(i);
      }
    }
  }

  Picked Choose() {
    if (!busy_) {
      if (Picked references = References(); !references.empty()) return references;
    }
    for (const auto choice :
         {&Chooser::Stuck, &Chooser::Wide, &Chooser::Windows, &Chooser::Loose, &Chooser::Expired}) {
      if (Picked found = (this->*choice)(); !found.empty()) return found;
    }
    return {};
  }

 private:
  // Returns all references, with the parts between them.
  [[nodiscard]] Picked References() const {
    Picked picked;
    size_t behind = 0;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].reference && picked.empty()) continue;
      picked.push_back(i);
      if (parts_[i].reference) behind = picked.size();
    }
    picked.resize(behind);
    return picked;
  }

  // Returns parts to merge if flushes wait for merges. In this case, any merge that reduces the
  // number of overlapping parts is allowed.
  [[nodiscard]] Picked Stuck() const {
    Picked deepest;
    for (size_t i = 0; i < parts_.size(); ++i) {
      if (!parts_[i].rows.has_rows()) continue;
      Picked here;
      const RowSpan start{parts_[i].rows.first_base, parts_[i].rows.first_base, false};
      for (size_t j = 0; j < parts_.size(); ++j) {
        if (parts_[j].rows.Meets(start)) here.push_back(j);
      }
      if (here.size() > deepest.size()) deepest = here;
    }
    if (deepest.size() < policy_.parts_blocking) return {};
    std::erase_if(deepest, [this](size_t i) { return parts_[i].merging || parts_[i].reference; });
    return Explore(deepest, policy_.ratio, true);
  }

  [[nodiscard]] Picked Explore(const Picked& from, double ratio, bool stuck) const {
    std::vector<uint64_t> bytes;
    for (size_t i = from.size(); i > 0; --i) bytes.push_back(parts_[from[i - 1]].bytes);
    const Slice found = ExploreParts(bytes, policy_, ratio, stuck);
    return Allowed({from.end() - static_cast<ptrdiff_t>(found.end),
                    from.end() - static_cast<ptrdiff_t>(found.begin)});
  }

  [[nodiscard]] Picked Allowed(Picked picked) const {
    return MayJoin(parts_, picked) ? picked : Picked();
  }

  // Returns the oldest of the wide parts, as many as can be merged together. The others follow in
  // later merges.
  [[nodiscard]] Picked Wide() const {
    if (wide_.size() < kWideParts && !TombstonesAreDue(wide_)) return {};
    Picked picked;
    for (size_t i = wide_.size(); i > 0 && picked.size() < policy_.parts_max; --i) {
      Picked more = picked;
      more.insert(more.begin(), wide_[i - 1]);
      RowSpan rows = RowSpan::None();
      for (const size_t part : more) rows.Add(parts_[part].rows);
      // The merged rows of several parts must fit into windows. A single part is always picked,
      // because its merge divides it into narrower parts.
      if (!picked.empty() && (!MayJoin(parts_, more) || !WindowChoice(rows, now_ms_).fine())) break;
      picked = std::move(more);
    }
    return picked;
  }

  [[nodiscard]] Picked Windows() const {
    // Larger windows are examined first, because data that is merged into a window of 64 days need
    // not be merged into windows of 8 days before.
    std::map<Window, bool> over;
    for (int level = kWindowLevels - 1; level > 0; --level) {
      for (const auto& [window, parts] : windows_) {
        const Window outer = Window::Of(parts_[parts.front()].rows.first_base, level);
        if (window.level > level || over.contains(outer)) continue;
        const bool within = std::any_of(over.begin(), over.end(), [&](const auto& other) {
          return other.second && other.first.Holds(outer);
        });
        if (within) continue;
        const Picked all = Within(outer);
        over[outer] = IsOver(outer, all);
        if (!over[outer]) continue;
        if (Picked found = OfWindowOver(Rested(all)); !found.empty()) return found;
      }
    }
    for (const auto& [window, parts] : windows_) {
      const bool within = std::any_of(over.begin(), over.end(), [&, w = window](const auto& other) {
        return other.second && other.first.Holds(w);
      });
      if (within) continue;
      if (Picked found = OfOpenWindow(window, parts); !found.empty()) return found;
    }
    return {};
  }

  [[nodiscard]] Picked Within(const Window& outer) const {
    Picked all;
    for (const auto& [window, parts] : windows_) {
      if (outer.Holds(window)) all.insert(all.end(), parts.begin(), parts.end());
    }
    std::sort(all.begin(), all.end());
    return all;
  }

  [[nodiscard]] bool IsOver(const Window& window, const Picked& parts) const {
    return now_ms_ - window.EndMs() >= WindowRestMs(window, parts_[parts.back()].number);
  }

  // Removes parts from `parts` that were flushed recently. While old data is being loaded, more
  // such parts will follow.
  [[nodiscard]] Picked Rested(Picked parts) const {
    std::erase_if(parts, [this](size_t i) {
      return parts_[i].rewrites == 0 && now_ms_ - parts_[i].made_ms < kRestMs;
    });
    return parts;
  }

  [[nodiscard]] Picked OfWindowOver(const Picked& all) const {
    uint64_t bytes = 0, largest = 0;
    for (const size_t i : all) {
      bytes += parts_[i].bytes;
      largest = std::max(largest, parts_[i].bytes);
    }
    const bool alike = static_cast<double>(largest) <=
                       RatioAt(policy_, now_ms_) * static_cast<double>(bytes - largest);
    if (all.size() > 1 && alike && MayJoin(parts_, all)) return all;
    if (Picked found = Explore(all, RatioAt(policy_, now_ms_), false); !found.empty()) return found;
    return ToBeRidOf(all);
  }

  [[nodiscard]] Picked OfOpenWindow(const Window& window, const Picked& all) const {
    const bool over = IsOver(window, all);
    const Picked parts = over ? Rested(all) : all;
    for (size_t end = parts.size(); end > 0;) {  // oldest first
      size_t begin = end - 1;
      const uint32_t rewrites = parts_[parts[begin]].rewrites;
      while (begin > 0 && parts_[parts[begin - 1]].rewrites == rewrites) --begin;
      const size_t enough = over && rewrites == 0 ? 2 : LevelParts(parts_[parts[end - 1]].number);
      if (end - begin >= enough) {
        const size_t first = end - std::min(end - begin, std::max(policy_.parts_max, enough));
        Picked found = Allowed({parts.begin() + static_cast<ptrdiff_t>(first),
                                parts.begin() + static_cast<ptrdiff_t>(end)});
        if (!found.empty()) return found;
      }
      end = begin;
    }
    return over ? ToBeRidOf(parts) : Picked();
  }

  [[nodiscard]] Picked Loose() const {
    if (Picked found = Explore(loose_, RatioAt(policy_, now_ms_), false); !found.empty()) {
      return found;
    }
    return ToBeRidOf(loose_);
  }

  // Returns all parts of a window, if merging them removes expired data or tombstones.
  [[nodiscard]] Picked ToBeRidOf(const Picked& parts) const {
    const bool due = TombstonesAreDue(parts) || MostHasExpired(parts);
    return due && IsBottom(parts_, parts) ? Allowed(parts) : Picked();
  }

  [[nodiscard]] Picked Expired() const {
    Picked all(parts_.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return !busy_ && MostHasExpired(all) ? all : Picked();
  }

  [[nodiscard]] bool TombstonesAreDue(const Picked& parts) const {
    return !parts.empty() && MajorIsDue(FactsOf(parts), policy_, now_ms_);
  }
  [[nodiscard]] bool MostHasExpired(const Picked& parts) const {
    return region::MostHasExpired(FactsOf(parts));
  }
  [[nodiscard]] std::vector<PartFacts> FactsOf(const Picked& picked) const {
    std::vector<PartFacts> facts;
    for (const size_t i : picked) facts.push_back(parts_[i]);
    return facts;
  }

  const std::span<const PartFacts> parts_;
  const MergePolicy& policy_;
  const int64_t now_ms_;
  bool busy_ = false;
  // The parts by window. Parts that a merge reads, and references of a split, are left out.
  std::map<Window, Picked> windows_;
  Picked wide_, loose_;
};

}  // namespace

Picked PartsToJoin(std::span<const PartFacts> parts, const MergePolicy& policy, int64_t now_ms) {
  return Chooser(parts, policy, now_ms).Choose();
}

bool MayJoin(std::span<const PartFacts> parts, const Picked& picked) {
  if (picked.empty()) return false;
  for (size_t i = picked.front(); i < picked.back(); ++i) {
    if (std::binary_search(picked.begin(), picked.end(), i)) continue;
    for (const size_t older : picked) {
      if (older > i && parts[i].rows.Meets(parts[older].rows)) return false;
    }
  }
  uint64_t last = 0;
  for (const size_t place : picked) last = std::max(last, parts[place].last_sequence);
  for (size_t i = 0; i < picked.front(); ++i) {
    if (!parts[i].cells || parts[i].first_sequence >= last) continue;
    for (const size_t older : picked) {
      if (parts[older].last_sequence < last && parts[i].rows.Meets(parts[older].rows)) return false;
    }
  }
  return true;
}

bool IsBottom(std::span<const PartFacts> parts, const Picked& picked) {
  for (const size_t newer : picked) {
    for (size_t i = newer + 1; i < parts.size(); ++i) {
      if (!std::binary_search(picked.begin(), picked.end(), i) &&
          parts[i].rows.Meets(parts[newer].rows)) {
        return false;
      }
    }
  }
  return true;
}

size_t Depth(std::span<const RowSpan> parts) {
  size_t most = 0;
  for (const RowSpan& part : parts) {
    const RowSpan start = part.has_rows() ? RowSpan{part.first_base, part.first_base, false} : part;
    most = std::max(most, static_cast<size_t>(std::count_if(
                              parts.begin(), parts.end(),
                              [&](const RowSpan& other) { return other.Meets(start); })));
  }
  return most;
}

int64_t WindowRestMs(const Window& window, uint64_t number) {
  const auto length_ms = static_cast<double>(window.EndMs() - window.StartMs());
  return kRestMs + static_cast<int64_t>(length_ms / 8 * Spread(number));
}

}  // namespace hg::region
