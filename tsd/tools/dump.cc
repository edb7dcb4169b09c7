// dump TABLE: every cell as the store would give it to OpenTSDB, in a form that `load` reads and a
// text tool compares.

#include "storage/for_each_row.h"
#include "tsd/tools/cell_line.h"
#include "tsd/tools/tools.h"

namespace hg::tsd {
namespace {

int RunDump(Invocation& call) {
  if (call.line.words().size() != 1) return call.Misused("exactly one table must be named");
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
  call.out.flush();
  if (!call.out) return call.Fail(Status::IoError("cannot write to standard output"));
  return kExitOk;
}

}  // namespace

const Command kDumpCommand{
    "dump",
    "TABLE",
    "Prints the cells of a table.",
    "One line a cell, sorted by row, family, qualifier:\n"
    "ROW <tab> FAMILY <tab> QUALIFIER <tab> VALUE, all but the family in hexadecimal.",
    {},
    "",
    RunDump};

}  // namespace hg::tsd
