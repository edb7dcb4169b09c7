// admin: tables and their regions; of a data directory, or of a running daemon by /api/admin.

#include "http/api/admin.h"

#include <fstream>
#include <sstream>

#include "storage/region/pre_split.h"
#include "tsd/tools/admin_client.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

constexpr OptionSpec kOptions[] = {
    {"--url", "URL", "ask the daemon there, such as http://127.0.0.1:4242 or https://HOST:PORT"},
    kCredentialsOption,
    kAuthoritiesOption,
    kCertificateOption,
    kKeyOption,
    {"--region", "KEY", "split: any key of the region; without it that of --at, or the first"},
    {"--at", "KEY", "split: where; without it in the middle of the region's files"},
    {"--splits", "KEYS", "create: first keys of regions, between commas"},
    {"--splits-file", "PATH", "create: the same, a key on each line"},
    {"--uniform", "N", "create: N regions with even shares of 8-byte keys"},
    {"--hex", "N", "create: N regions with even shares of the keys 00000000 to ffffffff"},
};

/// Keys as one parameter, in which a comma divides them.
std::string JoinKeys(const std::vector<Bytes>& keys) {
  std::string text;
  for (const Bytes& key : keys) {
    if (!text.empty()) text += ',';
    for (const char c : region::KeyText(key)) {
      if (c == ',') {
        text += "\\x2C";
      } else {
        text += c;
      }
    }
  }
  return text;
}

Result<http::Parameters> ReadParameters(const CommandLine& line) {
  const std::vector<std::string>& words = line.words();
  const std::string& call = words[0];
  http::Parameters parameters;
  const size_t words_max = call == "create" ? SIZE_MAX : call == "merge" ? 3 : 2;
  if (words.size() > words_max) {
    return Status::InvalidArgument("unexpected word: " + words[words_max]);
  }
  if (words.size() > 1) parameters.Add("table", words[1]);
  if (call == "merge" && words.size() > 2) parameters.Add("at", words[2]);
  if (call == "create" && words.size() > 2) {
    std::string families;
    for (size_t i = 2; i < words.size(); ++i) families += (i > 2 ? "," : "") + words[i];
    parameters.Add("families", families);
  }
  for (const char* name : {"region", "at", "splits", "uniform", "hex"}) {
    if (const auto value = line.Value(std::string("--") + name)) parameters.Add(name, *value);
  }
  if (const auto path = line.Value("--splits-file")) {
    std::ifstream file(*path, std::ios::binary);
    if (!file) return Status::NotFound("cannot read " + *path);
    std::stringstream text;
    text << file.rdbuf();
    ASSIGN_OR_RETURN(const auto keys, region::ParseKeyLines(std::move(text).str()));
    parameters.Add("splits", JoinKeys(keys));
  }
  return parameters;
}

int RunAdmin(Invocation& call) {
  if (call.line.words().empty()) return call.Misused("a call must be named");
  const std::string& name = call.line.words()[0];
  const auto parameters = ReadParameters(call.line);
  if (!parameters.ok()) return call.Misused(parameters.status().message());
  Result<std::string> answer = Status();
  if (const auto url = call.line.Value("--url")) {
    const auto access = ReadDaemonAccess(call.line);
    if (!access.ok()) return call.Fail(access.status());
    answer = AskDaemon(*url, *access, name, http::AdminChanges(name), *parameters);
  } else {
    if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);
    answer = http::RunAdminCall(call.session.cells(), name, *parameters);
  }
  if (!answer.ok()) return call.Fail(answer.status());
  call.out << *answer << '\n';
  return kExitOk;
}

}  // namespace

const Command kAdminCommand{
    "admin",
    "tables | regions [TABLE] | sizes [TABLE] | count TABLE | create TABLE FAMILY... | split TABLE "
    "| "
    "merge TABLE KEY | flush | compact [TABLE]",
    "Shows tables and their regions; counts rows; divides, joins, flushes, merges.",
    "The answer is JSON. Keys are text with \\xHH for bytes. `merge` joins the region that begins\n"
    "with the key and the one before it. Without --url it is the store of the settings, also\n"
    "while a daemon has its data directory.",
    kOptions,
    "/api/admin, which --url=http://HOST:PORT asks",
    RunAdmin};

}  // namespace hg::tsd
