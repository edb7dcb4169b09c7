#pragma once
// Write limits of each client: points per second, and new series per hour. A client is a user, or
// an address if authentication is off.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "storage/base/clock.h"
#include "storage/base/keyed_hash.h"
#include "storage/model/writer.h"

namespace hg::http {

struct ClientLimitOptions {
  uint64_t points_per_s = 0;         // maximum number of points per second; 0 = unlimited
  uint64_t new_series_per_hour = 0;  // maximum number of new series per hour; 0 = unlimited

  [[nodiscard]] bool any() const { return points_per_s > 0 || new_series_per_hour > 0; }
};

/// The write limits of all clients. The object is thread-safe.
class ClientLimits {
 public:
  /// `clock` must outlive the Writer objects that this object returns.
  ClientLimits(ClientLimitOptions options, const Clock& clock) : options_(options), clock_(clock) {}

  /// Returns the Writer of a user. All calls with the same name return the same Writer. `name` must
  /// be in the user file.
  std::shared_ptr<Writer> OfUser(const std::string& name);
  /// Returns the Writer of a client address such as "10.0.0.7". Call this function only if
  /// authentication is off. Calls with the same address return the same Writer as long as a caller
  /// holds this Writer or its limits have not recovered. If the maximum number of addresses is held
  /// in memory, all new addresses get one common Writer.
  std::shared_ptr<Writer> OfAddress(const std::string& address);

  /// Returns the number of clients whose limits are held in memory.
  [[nodiscard]] size_t clients();
  /// `refused_points` returns the number of points that the write limits have rejected so far.
  /// `refused_series` returns the number of new series that the write limits have rejected so far.
  [[nodiscard]] uint64_t refused_points() const { return counts_->points.load(); }
  [[nodiscard]] uint64_t refused_series() const { return counts_->series.load(); }

 private:
  struct Counts {
    std::atomic<uint64_t> points{0}, series{0};
  };
  class Client;

  [[nodiscard]] std::shared_ptr<Client> Make(const std::string& name) const;
  /// Removes each address whose limits have recovered and whose Writer no caller holds. Does
  /// nothing if the last call was less than a second ago. The caller must hold mutex_.
  void Sweep();

  const ClientLimitOptions options_;
  const Clock& clock_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();

  std::mutex mutex_;
  // The following members are guarded by mutex_.
  std::unordered_map<std::string, std::shared_ptr<Client>, keyed_hash::Hash> users_, addresses_;
  // The limits that further addresses share when the maximum number of addresses is held in memory.
  std::shared_ptr<Client> others_;
  int64_t swept_ns_ = 0;
};

}  // namespace hg::http
