#include "http/endpoints.h"

#include <vector>

namespace hg::http {
namespace {

uint8_t ModeBit(Mode mode) {
  switch (mode) {
    case Mode::kReadOnly:
      return kInReadOnly;
    case Mode::kWriteOnly:
      return kInWriteOnly;
    case Mode::kReadWrite:
      break;
  }
  return kInReadWrite;
}

}  // namespace

std::span<const Endpoint> Endpoints() {
  // One line per endpoint; the handlers' headers are in http/api.
  static const std::vector<Endpoint> table = {};
  return table;
}

const Endpoint* FindEndpoint(std::string_view name, Place place, const Options& options) {
  if (place == Place::kApi ? !options.api_enabled : !options.ui_enabled) return nullptr;
  if (name == "diediedie" && !options.diediedie_enabled) return nullptr;
  for (const Endpoint& endpoint : Endpoints()) {
    if (endpoint.name != name || endpoint.place != place) continue;
    return (endpoint.modes & ModeBit(options.mode)) != 0 ? &endpoint : nullptr;
  }
  return nullptr;
}

}  // namespace hg::http
