#include "tsd/open_backend.h"

#include "tsd/embedded_backend.h"
#include "tsd/hbase_backend.h"

namespace hg::tsd {

Result<std::unique_ptr<Backend>> OpenBackend(const Config& config, const std::string& words,
                                             StoreUse use) {
  const std::string& name = config.String("tsd.storage.backend");
  if (name == "embedded") return OpenEmbeddedBackend(config, words, use);
  if (name == "hbase") return OpenHbaseBackend(config, words, use);
  return Status::InvalidArgument("setting tsd.storage.backend = \"" + name +
                                 "\" is none of embedded, hbase");
}

}  // namespace hg::tsd
