// The command dump TABLE: prints every cell as the store would return it to OpenTSDB. `load` reads
// this form, and text tools can compare it.

#include "storage/for_each_row.h"
#include "tsd/tools/cell_line.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunDump(Invocation& call) {
  if (call.line.words().size() != 1) return call.Misused("exactly one table must be given");
  const std::string& table = call.line.words()[0];
  if (Status s = call.Open(StoreUse::kLook); !s.ok()) return call.Fail(s);

  ScanSpec spec;
  spec.table = table;
  spec.batch_rows = 1024;
  const Status scanned = ForEachRow(call.session.cells(), spec, [&](const Row& row) {
    for (const Cell& cell : row.cells) call.out << CellLineText(row.key, cell) << '\n';
    return Status();
  });
  if (!scanned.ok()) return call.Fail(scanned);
  return kExitOk;
}

}  // namespace

const Command kDumpCommand{
    "dump",
    "TABLE",
    "Prints the cells of a table.",
    "Each line is a cell, sorted by row, family and qualifier:\n"
    "ROW <tab> FAMILY <tab> QUALIFIER <tab> VALUE. All fields except the family are hexadecimal.",
    {},
    "",
    RunDump};

}  // namespace hg::tsd
