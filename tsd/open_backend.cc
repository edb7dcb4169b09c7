#include "tsd/open_backend.h"

#include "tsd/embedded_backend.h"
#include "tsd/hbase_backend.h"
#include "tsd/local_backend.h"

namespace hg::tsd {

Result<std::unique_ptr<Backend>> OpenBackend(const Config& config, const std::string& words,
                                             StoreUse use) {
  const std::string& name = config.String("tsd.storage.backend");
  if (name == "embedded") return OpenEmbeddedBackend(config, words, use);
  if (name == "hbase") return OpenHbaseBackend(config, words, use);
  return Status::InvalidArgument("setting tsd.storage.backend = \"" + name +
                                 "\" is not one of embedded, hbase");
}

Result<std::unique_ptr<Backend>> OpenBackendOrBeside(const Config& config, const std::string& words,
                                                     StoreUse use) {
  auto opened = OpenBackend(config, words, use);
  if (opened.status().code() != StatusCode::kBusy || use == StoreUse::kServe) return opened;
  auto beside = OpenLocalBackend(config);
  // No daemon serves the directory, so the error of OpenBackend is returned: another tool uses the
  // directory.
  if (beside.status().code() == StatusCode::kNotFound) return opened;
  return beside;
}

}  // namespace hg::tsd
