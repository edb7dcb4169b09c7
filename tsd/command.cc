#include "tsd/command.h"

#include "tsd/program.h"

namespace hg::tsd {

int Invocation::Fail(const Status& status) {
  err << "tsdb " << command.name << ": " << status.message() << "\n";
  return kExitFailed;
}

int Invocation::Misused(std::string_view why) {
  err << "tsdb " << command.name << ": " << why << "\n" << DescribeCommand(command);
  return kExitUsage;
}

Status Invocation::Open(StoreUse use) {
  Status opened = session.Open(use);
  if (opened.code() != StatusCode::kBusy) return opened;
  std::string message(opened.message());
  message +=
      command.http_instead.empty()
          ? "; stop it first"
          : "; ask it over HTTP (" + std::string(command.http_instead) + ") or stop it first";
  return Status::Busy(message);
}

std::string DescribeCommand(const Command& command) {
  std::string out = "usage: tsdb " + std::string(command.name) + " [options]";
  if (!command.words.empty()) out += " " + std::string(command.words);
  out += "\n" + std::string(command.summary) + "\n";
  if (!command.details.empty()) out += std::string(command.details) + "\n";
  out += "options:\n" + DescribeOptions(command.options) + DescribeOptions(CommonOptions());
  return out;
}

}  // namespace hg::tsd
