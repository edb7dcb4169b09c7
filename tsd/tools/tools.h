#pragma once
// The sub-commands, one file each (opentsdb-tools.md; dump and load:
// tests/compat/conformance/README.md).

#include "tsd/command.h"

namespace hg::tsd {

extern const Command kTsdCommand;       // tsd/tsd_command.cc, the daemon
extern const Command kImportCommand;    // import.cc
extern const Command kExportCommand;    // export.cc
extern const Command kQueryCommand;     // query.cc
extern const Command kScanCommand;      // scan.cc
extern const Command kFsckCommand;      // fsck.cc
extern const Command kSearchCommand;    // search.cc
extern const Command kUidCommand;       // uid.cc
extern const Command kMkmetricCommand;  // uid.cc
extern const Command kDumpCommand;      // dump.cc
extern const Command kLoadCommand;      // load.cc
extern const Command kCheckCommand;     // check.cc
extern const Command kBackupCommand;    // backup.cc
extern const Command kRestoreCommand;   // backup.cc
extern const Command kRepairCommand;    // repair.cc
extern const Command kAdminCommand;     // admin.cc
extern const Command kCellCommand;      // cell.cc
extern const Command kTableCommand;     // table.cc
extern const Command kMigrateCommand;   // migrate.cc
extern const Command kSettingsCommand;  // list_settings.cc
extern const Command kVersionCommand;   // version.cc

}  // namespace hg::tsd
