// The command tsd: options of the daemon (opentsdb-schema.md §18.2). daemon.h does the work.

#include "tsd/daemon.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

/// Options whose value is the value of a setting.
constexpr std::pair<std::string_view, std::string_view> kValueOptions[] = {
    {"--port", "tsd.network.port"},
    {"--bind", "tsd.network.bind"},
    {"--staticroot", "tsd.http.staticroot"},
    {"--cachedir", "tsd.http.cachedir"},
    {"--worker-threads", "tsd.network.worker_threads"},
    {"--async-io", "tsd.network.async_io"},
    {"--backlog", "tsd.network.backlog"},
    {"--flush-interval", "tsd.core.flushinterval"},
    {"--max-connections", "tsd.core.connections.limit"},
};

/// Options that set a setting to a fixed value if they are present.
struct SwitchOption {
  std::string_view option;
  std::string_view key;
  std::string_view value;
};
constexpr SwitchOption kSwitchOptions[] = {
    {"--auto-metric", "tsd.core.auto_create_metrics", "true"},
    {"--last-write-wins", "tsd.storage.fix_duplicates", "true"},
    {"--read-only", "tsd.mode", "ro"},
    {"--disable-ui", "tsd.core.enable_ui", "false"},
    {"--disable-api", "tsd.core.enable_api", "false"},
    {"--statswport", "tsd.core.stats_with_port", "true"},
};

void ApplyTsdOptions(const CommandLine& line, Config* config) {
  for (const auto& [option, key] : kValueOptions)
    if (auto value = line.Value(option)) config->Set(key, *value);
  for (const SwitchOption& option : kSwitchOptions)
    if (line.Has(option.option)) config->Set(option.key, option.value);
}

int RunTsd(Invocation& call) {
  if (!call.line.words().empty())
    return call.Misused("unexpected word: " + call.line.words().front());
  if (Status s = RunDaemon(call); !s.ok()) return call.Fail(s);
  return kExitOk;
}

constexpr OptionSpec kTsdOptions[] = {
    {"--port", "NUM", "TCP port for HTTP and telnet (4242)"},
    {"--bind", "ADDR", "address to listen on (127.0.0.1)"},
    {"--auto-metric", "", "assign ids to new metrics"},
    {"--last-write-wins", "", "if a series has two values for one time, use the one written later"},
    {"--staticroot", "PATH", "folder of static files"},
    {"--cachedir", "PATH", "folder of cached plots"},
    {"--worker-threads", "NUM", "network threads (one per core)"},
    {"--async-io", "true|false", "accepted without effect: network threads are always event loops"},
    {"--backlog", "NUM", "maximum number of connections that wait to be accepted"},
    {"--max-connections", "NUM", "maximum number of open connections; any others are closed"},
    {"--read-only", "X", "refuse writes; the value is ignored"},
    {"--disable-ui", "X", "disable the web page; the value is ignored"},
    {"--disable-api", "X", "disable the HTTP API; the value is ignored"},
    {"--flush-interval", "MS", "accepted without effect"},
    {"--statswport", "", "statistics have the tag port"},
};

}  // namespace

const Command kTsdCommand{
    "tsd",
    "",
    "Runs the daemon in the foreground.",
    "SIGTERM and SIGINT stop the daemon cleanly. On SIGHUP, the daemon drops cached names, and\n"
    "reads users and certificates again.",
    kTsdOptions,
    "",
    RunTsd,
    ApplyTsdOptions};

}  // namespace hg::tsd
