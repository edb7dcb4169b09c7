#pragma once
// What one client may write: points a second, new series an hour. A client is a user, or an address
// where nobody is asked who he is.

#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "storage/base/clock.h"
#include "storage/model/writer.h"

namespace hg::http {

struct ClientLimitOptions {
  uint64_t points_per_s = 0;         // 0 = as many as he likes
  uint64_t new_series_per_hour = 0;  // the same

  [[nodiscard]] bool any() const { return points_per_s > 0 || new_series_per_hour > 0; }
};

/// Thread-safe.
class ClientLimits {
 public:
  /// `clock` outlives all that it gives out.
  ClientLimits(ClientLimitOptions options, const Clock& clock) : options_(options), clock_(clock) {}

  /// The same for the same client as long as anybody holds it, or it owes something. A user is of
  /// the file of users.
  std::shared_ptr<Writer> OfUser(const std::string& name);
  /// "10.0.0.7": of one whom nobody asks who he is.
  std::shared_ptr<Writer> OfAddress(const std::string& address);

  /// Those that are remembered.
  [[nodiscard]] size_t clients();
  /// What was refused so far.
  [[nodiscard]] uint64_t refused_points() const { return counts_->points.load(); }
  [[nodiscard]] uint64_t refused_series() const { return counts_->series.load(); }

 private:
  struct Counts {
    std::atomic<uint64_t> points{0}, series{0};
  };
  class Client;

  [[nodiscard]] std::shared_ptr<Client> Make(const std::string& name) const;
  /// Forgets addresses that owe nothing, at most once in some time. Callers lock.
  void Sweep();

  const ClientLimitOptions options_;
  const Clock& clock_;
  const std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();

  std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::string, std::shared_ptr<Client>> users_, addresses_;
  std::shared_ptr<Client> others_;  // addresses that are too many
  int64_t swept_ns_ = 0;
};

}  // namespace hg::http
