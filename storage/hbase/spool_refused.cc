#include "storage/hbase/spool_refused.h"

#include <algorithm>

namespace hg::hbase {
namespace {

// Quotes bytes in double quotes, in which the HBase shell interprets escapes.
std::string Quoted(ByteView bytes) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string out = "\"";
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == ':';
    if (plain) {
      out += c;
    } else {
      out += "\\x";
      out += kDigits[byte >> 4];
      out += kDigits[byte & 15];
    }
  }
  return out + '"';
}

}  // namespace

std::string RefusedText(const SpoolRecord& record, const std::vector<RefusedRow>& rows) {
  const bool append = record.kind == SpoolRecord::Kind::kAppend;
  std::string text;
  for (const RefusedRow& refused : rows) {
    std::string why = refused.why.ToString();
    std::replace(why.begin(), why.end(), '\n', ' ');
    text += "# taken at " + std::to_string(record.taken_ms) + " ms: " + why + '\n';
    for (const CellChange& cell : refused.row.changes) {
      text += append ? "append " : "put ";
      text += Quoted(record.table) + ", " + Quoted(refused.row.key) + ", " +
              Quoted(cell.family + ":" + cell.qualifier) + ", " + Quoted(cell.value);
      if (cell.timestamp_ms) text += ", " + std::to_string(*cell.timestamp_ms);
      if (cell.ttl_ms) text += ", {TTL => " + std::to_string(*cell.ttl_ms) + "}";
      text += '\n';
    }
  }
  return text;
}

}  // namespace hg::hbase
