#include "http/access/client_limits.h"

#include <optional>

#include "storage/base/rate_limit.h"

namespace hg::http {
namespace {

constexpr int64_t kHourNs = 3'600'000'000'000;
/// Where so many are remembered those that nobody uses are forgotten, and with them what they owe:
/// a client that comes from that many addresses has found a way round.
constexpr size_t kClientsMax = 65536;

}  // namespace

class ClientLimits::Client : public Writer {
 public:
  Client(std::string name, const ClientLimitOptions& options, const Clock& clock,
         std::shared_ptr<Counts> counts)
      : name_(std::move(name)), clock_(clock), counts_(std::move(counts)) {
    if (options.points_per_s > 0) points_.emplace(options.points_per_s);
    if (options.new_series_per_hour > 0) series_.emplace(options.new_series_per_hour, kHourNs);
  }

  Status AskForPoints(uint64_t count) override {
    if (!points_ || points_->Open(clock_.MonotonicNs())) return {};
    counts_->points.fetch_add(count, std::memory_order_relaxed);
    return Status::LimitExceeded(name_ + " may write " + std::to_string(points_->per_period()) +
                                 " points a second");
  }
  void ChargePoints(uint64_t count) override {
    if (points_) points_->Take(count, clock_.MonotonicNs());
  }
  Status AskForSeries() override {
    if (!series_ || series_->Open(clock_.MonotonicNs())) return {};
    counts_->series.fetch_add(1, std::memory_order_relaxed);
    return Status::InvalidArgument(name_ + " may make " + std::to_string(series_->per_period()) +
                                   " new series an hour");
  }
  void ChargeSeries() override {
    if (series_) series_->Take(1, clock_.MonotonicNs());
  }
  [[nodiscard]] bool limits_series() const override { return series_.has_value(); }

 private:
  const std::string name_;
  const Clock& clock_;
  const std::shared_ptr<Counts> counts_;
  std::optional<RateLimit> points_, series_;
};

std::shared_ptr<Writer> ClientLimits::Find(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (clients_.size() >= kClientsMax)
    std::erase_if(clients_, [](const auto& entry) { return entry.second.use_count() == 1; });
  std::shared_ptr<Client>& client = clients_[name];
  if (client == nullptr) client = std::make_shared<Client>(name, options_, clock_, counts_);
  return client;
}

}  // namespace hg::http
