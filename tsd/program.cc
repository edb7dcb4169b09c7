#include "tsd/program.h"

#include "tsd/command.h"
#include "tsd/log.h"
#include "tsd/settings.h"
#include "tsd/tools/tools.h"
#include "tsd/tools/user.h"

namespace hg::tsd {
namespace {

constexpr OptionSpec kCommonOptions[] = {
    {"--config", "PATH", "settings file; by default the first readable file of the default places"},
    {"--data", "PATH", "data directory (tsd.storage.path)"},
    {"--table", "NAME", "data table (tsd.storage.hbase.data_table)"},
    {"--uidtable", "NAME", "table of names and ids (tsd.storage.hbase.uid_table)"},
    {"--zkquorum", "SPEC", "ZooKeeper hosts (tsd.storage.hbase.zk_quorum)"},
    {"--zkbasedir", "PATH", "ZooKeeper path (tsd.storage.hbase.zk_basedir)"},
    {"--help", "", "this text"},
};

/// Options that set a setting.
constexpr std::pair<std::string_view, std::string_view> kSettingOptions[] = {
    {"--data", "tsd.storage.path"},
    {"--table", "tsd.storage.hbase.data_table"},
    {"--uidtable", "tsd.storage.hbase.uid_table"},
    {"--zkquorum", "tsd.storage.hbase.zk_quorum"},
    {"--zkbasedir", "tsd.storage.hbase.zk_basedir"},
};

constexpr const Command* kCommands[] = {
    &kTsdCommand,      &kImportCommand,  &kExportCommand, &kQueryCommand,    &kScanCommand,
    &kFsckCommand,     &kSearchCommand,  &kUidCommand,    &kMkmetricCommand, &kDumpCommand,
    &kLoadCommand,     &kCheckCommand,   &kRepairCommand, &kBackupCommand,   &kRestoreCommand,
    &kAdminCommand,    &kTableCommand,   &kCellCommand,   &kMigrateCommand,  &kUserCommand,
    &kSettingsCommand, &kVersionCommand,
};

std::string DescribeProgram() {
  std::string out = "usage: tsdb <command> [options] [words]\ncommands:\n";
  for (const Command* command : kCommands) {
    std::string line = "  " + std::string(command->name);
    line.resize(12, ' ');
    out += line + std::string(command->summary) + "\n";
  }
  return out + "'tsdb <command> --help' describes a command.\n";
}

const Command* FindCommand(std::string_view name) {
  for (const Command* command : kCommands)
    if (command->name == name) return command;
  return nullptr;
}

/// Returns the description of this process as other processes see it when they find the data
/// directory in use.
std::string ProcessWords(const Command& command, const Config& config) {
  std::string words = "tsdb " + std::string(command.name);
  if (command.name == kTsdCommand.name) {
    const bool tls_alone =
        config.Has("tsd.network.tls.certificate") && !config.Has("tsd.network.tls.port");
    words += std::string(tls_alone ? " at https://" : " at http://") +
             config.String("tsd.network.bind") + ":" + config.String("tsd.network.port");
  }
  return words;
}

}  // namespace

std::span<const Command* const> Commands() { return kCommands; }

std::span<const OptionSpec> CommonOptions() { return kCommonOptions; }

int RunProgram(const std::vector<std::string>& arguments, const BackendOpener& opener,
               std::istream& in, std::ostream& out, std::ostream& err) {
  if (arguments.empty()) {
    err << DescribeProgram();
    return kExitFailed;
  }
  const Command* command = FindCommand(arguments[0]);
  if (command == nullptr) {
    const bool asked = arguments[0] == "--help" || arguments[0] == "-h" || arguments[0] == "help";
    if (!asked) err << "tsdb: no such command: " << arguments[0] << "\n";
    err << DescribeProgram();
    return asked ? kExitOk : kExitFailed;
  }

  std::vector<OptionSpec> known(command->options.begin(), command->options.end());
  known.insert(known.end(), std::begin(kCommonOptions), std::end(kCommonOptions));
  Result<CommandLine> line = CommandLine::Parse(known, std::span(arguments).subspan(1));
  if (!line.ok()) {
    err << "tsdb " << command->name << ": " << line.status().message() << "\n"
        << DescribeCommand(*command);
    return kExitUsage;
  }
  if (line->Has("--help")) {
    err << DescribeCommand(*command);
    return kExitOk;
  }

  Result<Config> config = Config::Load(line->Value("--config").value_or(""));
  if (!config.ok()) {
    err << "tsdb " << command->name << ": " << config.status().message() << "\n";
    return kExitFailed;
  }
  for (const auto& [option, key] : kSettingOptions)
    if (auto value = line->Value(option)) config->Set(key, *value);
  if (command->apply_options != nullptr) command->apply_options(*line, &*config);

  const Result<LogOptions> log = ReadLogOptions(*config);
  if (!log.ok()) {
    err << "tsdb " << command->name << ": " << log.status().message() << "\n";
    return kExitFailed;
  }
  SetLogFormat(log->format);
  const LogLevel quiet = line->Has("--verbose") ? LogLevel::kInfo : LogLevel::kWarning;
  SetLogLevel(command->name == kTsdCommand.name ? log->level : quiet);
  for (const Config::Ineffective& setting : config->IneffectiveSettings())
    LogInfo("settings", "a setting has no effect",
            {{"setting", setting.key}, {"why", setting.why}});

  Session session(*config, opener, ProcessWords(*command, *config));
  Invocation invocation{*command, *line, session, SystemClock(), in, out, err};
  int exit = command->run(invocation);
  if (Status closed = session.Close(); !closed.ok()) {
    const int failed = invocation.Fail(Prepend(closed, "closing the store"));
    if (exit == kExitOk) exit = failed;
  }
  out.flush();
  if (!out && exit == kExitOk) {
    return invocation.Fail(Status::IoError("cannot write to standard output"));
  }
  return exit;
}

}  // namespace hg::tsd
