#include "tsd/tools/migrate_uri.h"

#include <algorithm>

namespace hg::tsd {
namespace {

constexpr std::string_view kDirectory = "dir://";
constexpr std::string_view kCluster = "hbase://";

Status Refused(std::string_view uri, std::string_view why) {
  return Status::InvalidArgument("\"" + std::string(uri) + "\": " + std::string(why));
}

}  // namespace

Result<Config> SettingsOfUri(const Config& settings, std::string_view uri) {
  Config side = settings;
  if (uri.starts_with(kDirectory)) {
    const std::string_view path = uri.substr(kDirectory.size());
    if (!path.starts_with('/')) return Refused(uri, "dir:// must be followed by an absolute path");
    side.Set("tsd.storage.backend", "embedded");
    side.Set("tsd.storage.path", path);
    return side;
  }
  if (!uri.starts_with(kCluster)) return Refused(uri, "expected dir:///PATH or hbase://HOST:PORT");
  const std::string_view place = uri.substr(kCluster.size());
  const size_t slash = std::min(place.find('/'), place.size());
  if (slash == 0) return Refused(uri, "names no gateway");
  side.Set("tsd.storage.backend", "hbase");
  side.Set("tsd.storage.hbase.thrift", place.substr(0, slash));
  // The state file records the progress of written rows, and no later call can make these writes
  // durable. So they must be at least as durable as writes to HBase's log.
  const std::string& durability = settings.String("tsd.storage.durability");
  if (durability == "buffered" || durability == "none") {
    side.Set("tsd.storage.durability", "logged");
  }
  if (slash == place.size()) return side;
  const std::string_view space = place.substr(slash + 1);
  if (space.empty() || space.find_first_of("/:?#") != std::string_view::npos) {
    return Refused(uri, "the namespace must be one word");
  }
  for (const char* kind : {"data", "uid", "tree", "meta"}) {
    const std::string key = "tsd.storage.hbase." + std::string(kind) + "_table";
    const std::string& name = settings.String(key);
    const size_t colon = name.find(':');
    const std::string bare = colon == std::string::npos ? name : name.substr(colon + 1);
    side.Set(key, std::string(space) + ":" + bare);
  }
  return side;
}

}  // namespace hg::tsd
