#include "tsd/known_settings.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunSettings(Invocation& call) {
  call.out << SettingsTable();
  return kExitOk;
}

}  // namespace

const Command kSettingsCommand{"settings",
                               "",
                               "Prints every setting, its default and its meaning.",
                               "The output is the Markdown table of docs/settings.md.",
                               {},
                               "/api/config, which shows the values of the settings",
                               RunSettings};

}  // namespace hg::tsd
