#pragma once
// A memory limit for a part of the work of a request.

#include <cstdint>
#include <string>
#include <utility>

#include "storage/base/request_context.h"

namespace hg {

/// The limits of a request, and in addition a limit for the memory that is charged to this object.
/// The destructor reports this memory to the request as freed. Only one thread at a time may use
/// the object.
class MemoryLimit final : public RequestContext {
 public:
  /// If a charge would exceed `bytes_max` bytes, Charge returns LimitExceeded with this `message`.
  /// `request` must outlive the object.
  MemoryLimit(int64_t bytes_max, std::string message, RequestContext& request)
      : bytes_max_(bytes_max), message_(std::move(message)), request_(request) {}
  MemoryLimit(const MemoryLimit&) = delete;
  MemoryLimit& operator=(const MemoryLimit&) = delete;
  ~MemoryLimit() override { (void)request_.Charge(-bytes_); }

  Status Step(uint64_t steps) override { return request_.Step(steps); }
  Status Check() override { return request_.Check(); }
  Status Charge(int64_t bytes) override {
    if (bytes > 0 && bytes_ + bytes > bytes_max_) {
      exceeded_ = true;
      return Status::LimitExceeded(message_);
    }
    RETURN_IF_ERROR(request_.Charge(bytes));
    bytes_ += bytes;
    return {};
  }
  /// Returns whether a charge has exceeded the limit of this object.
  [[nodiscard]] bool exceeded() const { return exceeded_; }

 private:
  const int64_t bytes_max_;
  const std::string message_;
  RequestContext& request_;
  int64_t bytes_ = 0;
  bool exceeded_ = false;
};

}  // namespace hg
