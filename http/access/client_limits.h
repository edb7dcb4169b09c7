#pragma once
// Write limits of each client: points per second, and new series per hour. A client is a user, or
// an address if authentication is off.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "storage/base/clock.h"
#include "storage/model/writer.h"

namespace hg::http {

struct ClientLimitOptions {
  uint64_t points_per_s = 0;         // 0 = unlimited
  uint64_t new_series_per_hour = 0;  // 0 = unlimited

  [[nodiscard]] bool any() const { return points_per_s > 0 || new_series_per_hour > 0; }
};

/// Thread-safe.
class ClientLimits {
 public:
  /// `clock` must outlive all returned Writers.
  ClientLimits(ClientLimitOptions options, const Clock& clock) : options_(options), clock_(clock) {}

  /// Returns the Writer of a user, always the same one. `name` must be in the user file.
  std::shared_ptr<Writer> OfUser(const std::string& name);
  /// Returns the Writer of an address such as "10.0.0.7". Used if authentication is off. Calls with
  /// the same address return the same Writer while a caller holds it, and until its limits have
  /// recovered.
  std::shared_ptr<Writer> OfAddress(const std::string& address);

  /// Returns the number of clients whose limits are in memory.
  [[nodiscard]] size_t clients();
  /// Return the number of points, and of new series, that were rejected so far.
  [[nodiscard]] uint64_t refused_points() const { return counts_->points.load(); }
  [[nodiscard]] uint64_t refused_series() const { return counts_->series.load(); }

 private:
  struct Counts {
    std::atomic<uint64_t> points{0}, series{0};
  };
  class Client;

  [[nodiscard]] std::shared_ptr<Client> Make(const std::string& name) const;
  /// Removes addresses whose limits have recovered, at most once per sweep interval. The caller
  /// must hold mutex_.
  void Sweep();

  const ClientLimitOptions options_;
  const Clock& clock_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();

  std::mutex mutex_;
  // The following members are guarded by mutex_.
  std::unordered_map<std::string, std::shared_ptr<Client>> users_, addresses_;
  // When the maximum number of addresses is in memory, all further addresses share these limits.
  std::shared_ptr<Client> others_;
  int64_t swept_ns_ = 0;
};

}  // namespace hg::http
