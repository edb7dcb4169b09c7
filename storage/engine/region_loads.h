#pragma once
// Counts the writes and reads of each region, so that operators can find a region that gets most of
// the load.

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>

namespace hg::engine {

/// Counters of writes and reads for each region. The counters begin at 0 when the store is opened.
/// Thread-safe.
class RegionLoads {
 public:
  struct Load {
    uint64_t writes = 0;  // number of points and cells that flushes wrote to files
    uint64_t reads = 0;   // number of gets, scans and read-modify-writes that read the region
  };

  RegionLoads() = default;
  RegionLoads(const RegionLoads&) = delete;
  RegionLoads& operator=(const RegionLoads&) = delete;
  ~RegionLoads() {
    for (auto& group : groups_) delete group.load(std::memory_order_relaxed);
  }

  /// `region` is the id of a region. Ids are never reused. A region is not counted if its id is
  /// kIdsMax or above, or if memory for its counters cannot be allocated.
  void AddWrites(uint32_t region, uint64_t count) {
    if (Counters* const counters = Of(region)) Add(&counters->writes, count);
  }
  void AddRead(uint32_t region) {
    if (Counters* const counters = Of(region)) Add(&counters->reads, 1);
  }
  [[nodiscard]] Load Read(uint32_t region) const {
    if (region >= kIdsMax) return {};
    const Group* const group = groups_[region / kGroup].load(std::memory_order_acquire);
    if (group == nullptr) return {};
    const Counters& counters = (*group)[region % kGroup];
    return {counters.writes.load(std::memory_order_relaxed),
            counters.reads.load(std::memory_order_relaxed)};
  }

 private:
  static constexpr uint32_t kGroup = 1 << 10, kIdsMax = 1 << 20;
  struct Counters {
    std::atomic<uint64_t> writes{0}, reads{0};
  };
  using Group = std::array<Counters, kGroup>;

  static void Add(std::atomic<uint64_t>* counter, uint64_t count) {
    counter->fetch_add(count, std::memory_order_relaxed);
  }
  /// Returns the counters of the region, or nullptr if the region is not counted.
  Counters* Of(uint32_t region) {
    if (region >= kIdsMax) return nullptr;
    std::atomic<Group*>& place = groups_[region / kGroup];
    Group* group = place.load(std::memory_order_acquire);
    if (group == nullptr) {
      std::unique_ptr<Group> made(new (std::nothrow) Group());
      if (made == nullptr) return nullptr;
      if (place.compare_exchange_strong(group, made.get(), std::memory_order_acq_rel)) {
        group = made.release();
      }
    }
    return &(*group)[region % kGroup];
  }

  std::array<std::atomic<Group*>, kIdsMax / kGroup> groups_{};  // index: id of a region / kGroup
};

}  // namespace hg::engine
