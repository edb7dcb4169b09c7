#include "http/access/client_limits.h"

#include <optional>

#include "storage/base/rate_limit.h"

namespace hg::http {
namespace {

constexpr int64_t kHourNs = 3'600'000'000'000;
/// Maximum number of addresses with separate limits. If there are more, addresses whose allowance
/// is full again are removed. If no address can be removed, new addresses share one limit, because
/// one client probably uses many addresses.
constexpr size_t kAddressesMax = 65536;
constexpr int64_t kSweepIntervalNs = 1'000'000'000;

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
  Status TakeSeries() override {
    if (!series_ || series_->TakeOne(clock_.MonotonicNs())) return {};
    counts_->series.fetch_add(1, std::memory_order_relaxed);
    return Status::InvalidArgument(name_ + " may make " + std::to_string(series_->per_period()) +
                                   " new series an hour");
  }
  void GiveBackSeries() override {
    if (series_) series_->GiveBackOne();
  }
  [[nodiscard]] bool limits_series() const override { return series_.has_value(); }

  [[nodiscard]] bool Owes(int64_t now_ns) const {
    return (points_ && points_->Owes(now_ns)) || (series_ && series_->Owes(now_ns));
  }

 private:
  const std::string name_;
  const Clock& clock_;
  const std::shared_ptr<Counts> counts_;
  std::optional<RateLimit> points_, series_;
};

std::shared_ptr<ClientLimits::Client> ClientLimits::Make(const std::string& name) const {
  return std::make_shared<Client>(name, options_, clock_, counts_);
}

std::shared_ptr<Writer> ClientLimits::OfUser(const std::string& name) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Client>& client = users_[name];
  if (client == nullptr) client = Make("user " + name);
  return client;
}

std::shared_ptr<Writer> ClientLimits::OfAddress(const std::string& address) {
  std::lock_guard lock(mutex_);
  if (const auto known = addresses_.find(address); known != addresses_.end()) return known->second;
  if (addresses_.size() >= kAddressesMax) Sweep();
  if (addresses_.size() < kAddressesMax)
    return addresses_.emplace(address, Make("address " + address)).first->second;
  if (others_ == nullptr)
    others_ = Make("every address beyond " + std::to_string(kAddressesMax) + " together");
  return others_;
}

size_t ClientLimits::clients() {
  std::lock_guard lock(mutex_);
  return users_.size() + addresses_.size();
}

void ClientLimits::Sweep() {
  const int64_t now_ns = clock_.MonotonicNs();
  if (swept_ns_ != 0 && now_ns - swept_ns_ < kSweepIntervalNs) return;
  swept_ns_ = now_ns;
  std::erase_if(addresses_, [now_ns](const auto& entry) {
    return entry.second.use_count() == 1 && !entry.second->Owes(now_ns);
  });
}

}  // namespace hg::http
