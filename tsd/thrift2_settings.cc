#include "tsd/thrift2_settings.h"

#include <algorithm>

#include "tsd/settings.h"

namespace hg::tsd {

Result<std::optional<thrift2::Thrift2Options>> ReadThrift2Options(const Config& config) {
  constexpr const char* kPort = "tsd.thrift2.port";
  if (!config.Has(kPort)) return std::optional<thrift2::Thrift2Options>();
  if (config.String("tsd.storage.backend") != "embedded") {
    return Status::InvalidArgument(
        "setting tsd.thrift2.port = \"" + config.String(kPort) +
        "\" needs tsd.storage.backend = embedded: HBase has gateways of its own");
  }
  thrift2::Thrift2Options options;
  ASSIGN_OR_RETURN(const int64_t port, config.Int(kPort, 0, 0, 65535));
  options.port = static_cast<uint16_t>(port);
  options.bind = config.String("tsd.thrift2.bind");
  // An eighth of the memory, but at least enough for a request and a response with the largest
  // cells.
  constexpr int64_t kMemoryBytesMin = 64 << 20;
  ASSIGN_OR_RETURN(const uint64_t memory_bytes, ReadMemoryLimit(config));
  options.memory_bytes_max = std::max(static_cast<int64_t>(memory_bytes / 8), kMemoryBytesMin);
  options.response_bytes_max = std::min(options.response_bytes_max, options.memory_bytes_max / 2);
  return std::optional(std::move(options));
}

}  // namespace hg::tsd
