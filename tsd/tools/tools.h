#pragma once
// The sub-commands; each is defined in a file of its own (opentsdb-tools.md; for dump and load, see
// tests/compat/conformance/README.md).

#include "tsd/command.h"

namespace hg::tsd {

/// The number of times that a tool repeats a write that the store rejects because its memory is
/// full.
inline constexpr int kBusyRetries = 10;

extern const Command kTsdCommand;       // the daemon; defined in tsd/tsd_command.cc
extern const Command kImportCommand;    // defined in import.cc
extern const Command kExportCommand;    // defined in export.cc
extern const Command kQueryCommand;     // defined in query.cc
extern const Command kScanCommand;      // defined in scan.cc
extern const Command kFsckCommand;      // defined in fsck.cc
extern const Command kSearchCommand;    // defined in search.cc
extern const Command kUidCommand;       // defined in uid.cc
extern const Command kMkmetricCommand;  // defined in uid.cc
extern const Command kDumpCommand;      // defined in dump.cc
extern const Command kLoadCommand;      // defined in load.cc
extern const Command kCheckCommand;     // defined in check.cc
extern const Command kBackupCommand;    // defined in backup.cc
extern const Command kRestoreCommand;   // defined in backup.cc
extern const Command kRepairCommand;    // defined in repair.cc
extern const Command kAdminCommand;     // defined in admin.cc
extern const Command kCellCommand;      // defined in cell.cc
extern const Command kTableCommand;     // defined in table.cc
extern const Command kMigrateCommand;   // defined in migrate.cc
extern const Command kSettingsCommand;  // defined in list_settings.cc
extern const Command kVersionCommand;   // defined in version.cc

}  // namespace hg::tsd
