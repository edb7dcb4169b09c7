// The command admin: regions of tables, in a data directory or in a running daemon through
// /api/admin.

#include "http/api/admin.h"

#include "tsd/tools/admin_client.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

constexpr OptionSpec kAdminOptions[] = {
    {"--url", "URL", "URL of a daemon to call, such as http://127.0.0.1:4242 or https://HOST:PORT"},
    kCredentialsOption,
    kAuthoritiesOption,
    kCertificateOption,
    kKeyOption,
    {"--region", "KEY",
     "split: any key of the region; the default is the key of --at, or the "
     "first region"},
    {"--at", "KEY",
     "split: key at which to split; the default is the middle of the region's "
     "files"},
};

Result<http::Parameters> ReadParameters(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  const std::string& call = words[0];
  http::Parameters parameters;
  const size_t words_max = call == "merge" ? 3 : 2;
  if (words.size() > words_max) {
    return Status::InvalidArgument("unexpected word: " + words[words_max]);
  }
  if (words.size() > 1) parameters.Add("table", words[1]);
  if (call == "merge" && words.size() > 2) parameters.Add("at", words[2]);
  for (const char* name : {"region", "at"}) {
    if (const auto value = line.Value(std::string("--") + name)) parameters.Add(name, *value);
  }
  return parameters;
}

int RunAdmin(Invocation& call) {
  if (call.line.words().empty()) return call.Misused("a call must be given");
  const std::string& name = call.line.words()[0];
  for (const char* moved : {"tables", "create"}) {
    if (name != moved) continue;
    return call.Misused("'tsdb admin " + name + "' is now 'tsdb table " +
                        (name == "tables" ? "list" : name) + "'");
  }
  const auto parameters = ReadParameters(call.line);
  if (!parameters.ok()) return call.Misused(parameters.status().message());
  Result<std::string> answer = Status();
  if (const auto url = call.line.Value("--url")) {
    const auto access = ReadDaemonAccess(call.line);
    if (!access.ok()) return call.Fail(access.status());
    answer = AskDaemon(*url, *access, name, http::AdminChanges(name), *parameters);
  } else {
    if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
    answer =
        http::RunAdminCall(call.session.cells(), name, *parameters, RequestContext::Unlimited());
  }
  if (!answer.ok()) return call.Fail(answer.status());
  call.out << *answer << '\n';
  return kExitOk;
}

}  // namespace

const Command kAdminCommand{
    "admin",
    "regions [TABLE] | sizes [TABLE] | count TABLE | split TABLE | merge TABLE KEY | flush | "
    "compact [TABLE]",
    "Shows the regions of tables, counts rows, splits and merges regions, flushes and compacts.",
    "The output is JSON. Keys are text in which \\xHH stands for a byte. `merge` merges the\n"
    "region that begins with the key and the region before it. Without --url the command uses\n"
    "the store of the settings, also while a daemon uses the data directory. `tsdb table` creates\n"
    "and changes tables.",
    kAdminOptions,
    "/api/admin, which --url=http://HOST:PORT calls",
    RunAdmin};

}  // namespace hg::tsd
