// The command table: creates, describes, changes and removes tables, in a data directory, in HBase,
// or in a running daemon through /api/admin.

#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <iostream>
#include <sstream>
#include <vector>

#include "http/api/admin.h"
#include "http/wire/table_text.h"
#include "storage/lsm/table_attributes.h"
#include "storage/region/pre_split.h"
#include "storage/table_name.h"
#include "tsd/rollup/automatic_rollups.h"
#include "tsd/tables.h"
#include "tsd/tools/admin_client.h"
#include "tsd/tools/cell_read.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

struct TableVerb {
  std::string_view name;
  std::string_view call;  // the call of /api/admin
  bool takes_families = false;
};

constexpr TableVerb kTableVerbs[] = {{"list", "tables"},       {"create", "create", true},
                                     {"describe", "describe"}, {"alter", "alter", true},
                                     {"drop", "drop"},         {"truncate", "truncate"},
                                     {"regions", "regions"}};

const std::vector<OptionSpec>& Options() {
  static const std::vector<OptionSpec> options = [] {
    std::vector<OptionSpec> all = {
        {"--family", "NAME", "create, alter: a family; attributes after this option belong to it"}};
    for (const lsm::FamilyAttribute& attribute : lsm::FamilyAttributes())
      all.push_back({attribute.option, attribute.argument, attribute.meaning});
    all.insert(
        all.end(),
        {{"--rows", "", "regions: count rows and bytes of values, which reads the whole table"},
         {"--delete-family", "NAME", "alter: removes the family with its cells"},
         {"--split-policy", "POLICY",
          "create, alter: Disabled, ConstantSize, IncreasingToUpperBound, Stepping, KeyPrefix, "
          "DelimitedKeyPrefix, or DEFAULT for that of the settings"},
         {"--split-prefix-length", "N", "of KeyPrefix: bytes of a key that stay in one region"},
         {"--split-delimiter", "TEXT", "of DelimitedKeyPrefix: ends the bytes that stay together"},
         {"--splits", "KEYS", "create: first keys of regions, separated by commas"},
         {"--splits-file", "PATH", "create: first keys of regions, one in each line"},
         {"--uniform", "N", "create: N regions with equal shares of 8-byte keys"},
         {"--hex", "N", "create: N regions with equal shares of the keys 00000000 to ffffffff"},
         {"--yes", "", "drop, truncate, alter: delete data without asking"},
         {"--url", "URL", "URL of a daemon to call, such as http://127.0.0.1:4242"},
         kCredentialsOption,
         kAuthoritiesOption,
         kCertificateOption,
         kKeyOption});
    return all;
  }();
  return options;
}

/// Joins keys to one parameter, separated by commas.
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

/// Returns the options for families, attributes and the split policy in the notation of HBase's
/// shell.
Result<std::string> FamiliesOfOptions(const CommandLine& line) {
  std::string text;
  bool open = false;
  for (const auto& [option, value] : line.given()) {
    if (option == "--family" || option == "--delete-family") {
      text += (open ? "}, " : text.empty() ? "" : ", ");
      open = option == "--family";
      text += "{NAME => " + lsm::Quoted(value) + (open ? "" : ", METHOD => 'delete'}");
      continue;
    }
    for (const lsm::FamilyAttribute& attribute : lsm::FamilyAttributes()) {
      if (attribute.option != option) continue;
      if (!open) return Status::InvalidArgument(option + " " + value + " needs a --family before");
      text += ", " + std::string(attribute.name) + " => " + lsm::Quoted(value);
    }
  }
  if (open) text += "}";
  constexpr std::pair<const char*, std::string_view> kOfTable[] = {
      {"--split-policy", lsm::kSplitPolicy},
      {"--split-prefix-length", lsm::kSplitPrefixLength},
      {"--split-delimiter", lsm::kSplitDelimiter}};
  for (const auto& [option, name] : kOfTable) {
    const auto value = line.Value(option);
    if (!value) continue;
    // A quoted text cannot end in a single backslash, which is invalid in all values.
    RETURN_IF_ERROR(region::ParseKey(*value).status());
    text += (text.empty() ? "" : ", ") + std::string(name) + " => " + lsm::Quoted(*value);
  }
  return text;
}

Result<http::Parameters> ReadParameters(const CommandLine& line, const TableVerb& verb) {
  const std::vector<std::string>& words = line.words();
  const size_t words_max = verb.takes_families ? SIZE_MAX : verb.name == "list" ? 1 : 2;
  if (words.size() > words_max) {
    return Status::InvalidArgument("unexpected word: " + words[words_max]);
  }
  http::Parameters parameters;
  ASSIGN_OR_RETURN(std::string families, FamiliesOfOptions(line));
  if (!families.empty() && !verb.takes_families) {
    return Status::InvalidArgument(std::string(verb.name) +
                                   " takes no attributes of tables or families: " + families);
  }
  if (line.Has("--rows")) {
    if (verb.name != "regions") return Status::InvalidArgument("--rows: only for regions");
    parameters.Add("rows", "true");
  }
  if (verb.name == "list") return parameters;
  if (words.size() < 2) return Status::InvalidArgument("the name of a table is missing");
  parameters.Add("table", words[1]);
  for (size_t i = 2; i < words.size(); ++i) families += (families.empty() ? "" : ", ") + words[i];
  if (verb.takes_families && families.empty()) {
    return Status::InvalidArgument(std::string(verb.name) + " needs --family NAME" +
                                   (verb.name == "alter" ? " or --split-policy POLICY" : ""));
  }
  if (verb.takes_families) parameters.Add("families", families);
  for (const char* name : {"splits", "uniform", "hex", "splits-file"}) {
    const auto value = line.Value(std::string("--") + name);
    if (!value) continue;
    if (verb.name != "create") {
      return Status::InvalidArgument("--" + std::string(name) + " " + *value +
                                     ": only for a new table");
    }
    if (name != std::string_view("splits-file")) {
      parameters.Add(name, *value);
      continue;
    }
    std::ifstream file(*value, std::ios::binary);
    if (!file) return Status::NotFound("cannot read " + *value);
    std::stringstream text;
    text << file.rdbuf();
    ASSIGN_OR_RETURN(const auto keys, region::ParseKeyLines(std::move(text).str()));
    parameters.Add("splits", JoinKeys(keys));
  }
  return parameters;
}

/// Returns a description of the data that the command deletes, or "" if it deletes nothing.
Result<std::string> DeletedBy(const TableVerb& verb, const http::Parameters& parameters) {
  const std::string* const table = parameters.Find("table");
  if (verb.name == "drop") return "table '" + *table + "' and all its data";
  if (verb.name == "truncate") return "all data of table '" + *table + "'";
  if (verb.name != "alter") return std::string();
  ASSIGN_OR_RETURN(const http::TableChange change,
                   http::ParseTableText(*parameters.Find("families")));
  std::string text;
  for (const auto& family : change.families) {
    if (family.remove)
      text += (text.empty() ? "" : ", ") + ("family '" + family.name + "' of table '") + *table +
              "' and its data";
  }
  return text;
}

/// Asks for confirmation on a terminal. InvalidArgument: there is no terminal, or the user did not
/// type "yes".
Status Confirm(Invocation& call, const std::string& deleted) {
  if (deleted.empty() || call.line.Has("--yes")) return {};
  if (&call.in != &std::cin || isatty(STDIN_FILENO) == 0) {
    return Status::InvalidArgument("this would delete " + deleted +
                                   ": repeat the command with --yes");
  }
  call.err << "Delete " << deleted << "? Type yes: " << std::flush;
  std::string answer;
  std::getline(call.in, answer);
  return answer == "yes" ? Status() : Status::InvalidArgument("nothing was deleted");
}

/// Returns an error if the table of names, a table of OpenTSDB in HBase or a table of automatic
/// rollups would be dropped or truncated. The embedded engine protects its table of points. While a
/// daemon runs, the engine protects all tables of the settings.
Status CheckOwn(Session& session, std::string_view name) {
  name = WithoutDefaultNamespace(name);
  ASSIGN_OR_RETURN(const std::vector<TableDescriptor> own, DescribeTables(session.config()));
  const bool known = std::any_of(own.begin(), own.end(),
                                 [&](const TableDescriptor& table) { return table.name == name; });
  const std::string refused = "table '" + std::string(name) + "' cannot be dropped or truncated: ";
  const std::string state = RollupStateTable(session.data_table());
  if (name == session.uid_table()) {
    return Status::InvalidArgument(refused + "the points of table '" + session.data_table() +
                                   "' need the names in it");
  }
  if (known && session.config().String("tsd.storage.backend") == "hbase") {
    return Status::InvalidArgument(refused +
                                   "other daemons may use it. Use HBase's shell if none does");
  }
  const bool rollups = known && name != session.data_table() &&
                       name != session.config().String("tsd.storage.hbase.tree_table") &&
                       name != session.config().String("tsd.storage.hbase.meta_table");
  if (name == state || (rollups && session.cells().DescribeTable(state).ok())) {
    return Status::InvalidArgument(
        refused + "table '" + state +
        "' records which automatic rollups are complete. Set a TTL instead");
  }
  return {};
}

Result<std::string> RunHere(Invocation& call, const TableVerb& verb,
                            const http::Parameters& parameters) {
  RETURN_IF_ERROR(call.Open(StoreUse::kLook));
  if (verb.name == "drop" || verb.name == "truncate")
    RETURN_IF_ERROR(CheckOwn(call.session, *parameters.Find("table")));
  if (verb.name == "truncate" && call.session.backend().remote()) {
    RETURN_IF_ERROR(call.session.backend().TruncateTable(*parameters.Find("table")));
    return std::string(R"({"done":true})");
  }
  RowProgress progress(call);
  return http::RunAdminCall(call.session.cells(), verb.call, parameters,
                            RequestContext::Unlimited(),
                            [&progress](uint64_t rows) { progress.Count(rows); });
}

int RunTable(Invocation& call) {
  const std::vector<std::string>& words = call.line.words();
  if (words.empty()) return call.Misused("expected one of " + std::string(call.command.words));
  const TableVerb* const verb =
      std::find_if(std::begin(kTableVerbs), std::end(kTableVerbs),
                   [&](const TableVerb& v) { return v.name == words[0]; });
  if (verb == std::end(kTableVerbs)) return call.Misused("no such action: " + words[0]);
  const auto parameters = ReadParameters(call.line, *verb);
  if (!parameters.ok()) return call.Misused(parameters.status().message());
  const auto deleted = DeletedBy(*verb, *parameters);
  if (!deleted.ok()) return call.Fail(deleted.status());
  if (Status s = Confirm(call, *deleted); !s.ok()) return call.Fail(s);
  Result<std::string> answer = Status();
  if (const auto url = call.line.Value("--url")) {
    const auto access = ReadDaemonAccess(call.line);
    if (!access.ok()) return call.Fail(access.status());
    answer = AskDaemon(*url, *access, verb->call, http::AdminChanges(verb->call), *parameters);
  } else {
    answer = RunHere(call, *verb, *parameters);
  }
  if (!answer.ok()) return call.Fail(answer.status());
  call.out << *answer << '\n';
  return kExitOk;
}

}  // namespace

const Command kTableCommand{
    "table",
    "list | create TABLE | describe TABLE | alter TABLE | drop TABLE | truncate TABLE | "
    "regions TABLE",
    "Lists, creates, describes, changes, drops and empties tables, and shows their regions.",
    "  tsdb table create t1 --family f1 --ttl 3d --versions 3 --family f2\n"
    "  tsdb table create t2 \"{NAME => 'f1', TTL => 180}, SPLITS => ['a', 'm']\"\n"
    "  tsdb table alter t1 --family f1 --ttl 7d --delete-family f2\n"
    "  tsdb table alter t1 --split-policy KeyPrefix --split-prefix-length 4\n"
    "The first example uses options; the second uses the notation of HBase's shell. `alter` keeps\n"
    "the values of attributes that it does not name. `regions` shows the share of each region in\n"
    "the bytes of the table, and warns if one region has most of the bytes. On a terminal, the\n"
    "command asks before it deletes data; elsewhere it needs --yes to delete data. The result is\n"
    "JSON. In a key, \\xHH is a byte. Without --url the command uses the store of the settings,\n"
    "also while a daemon uses the data directory.",
    Options(),
    "/api/admin, which --url=http://HOST:PORT calls",
    RunTable};

}  // namespace hg::tsd
