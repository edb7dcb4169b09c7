#pragma once
// Reads and writes the families, the split keys and the split policy of a table in the notation of
// the HBase shell:
//
//   {NAME => 'f1', TTL => '3d'}, {NAME => 'f2', VERSIONS => 3}, SPLITS => ['a', 'm']
//   SPLIT_POLICY => 'KeyPrefixRegionSplitPolicy',
//     METADATA => {'KeyPrefixRegionSplitPolicy.prefix_length' => 4}
//
// Words without blanks and punctuation may be written without quotes. A single word is the name of
// a family. {NAME => 'f1', METHOD => 'delete'} and 'delete' => 'f1' remove a family. In a split key
// and a delimiter, \xHH is a byte and \\ is a backslash.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/lsm/table_attributes.h"
#include "storage/table_descriptor.h"

namespace hg::http {

/// The maximum number of regions that NUMREGIONS and the parameters `uniform` and `hex` of
/// /api/admin/create can request. More regions are never useful, and each region makes the manifest
/// longer.
inline constexpr uint32_t kSplitsMax = 1000;

/// A change of a table. A new table is described as a change of a table without families.
struct TableChange {
  struct Family {
    Bytes name;
    // Names and values of attributes in the notation of HBase.
    std::vector<std::pair<std::string, std::string>> attributes = {};
    bool remove = false;
  };
  std::vector<Family> families;     // families to add, change or remove; each name occurs only once
  std::vector<Bytes> splits;        // the first keys of the regions of a new table, except ""
  lsm::TableAttributes attributes;  // attributes of the split policy
};

/// Parses the text of a change. InvalidArgument: the text has a syntax error, or a family occurs
/// twice. Unsupported: the store does not support a table attribute; the error message contains the
/// name and the value of the attribute.
Result<TableChange> ParseTableText(std::string_view text);

/// Applies the change to the families and the split policy of a table. Attributes that are not in
/// the change keep their values; in a new family, they have their defaults. Returns the errors of
/// SetAttribute and SetSplitPolicy (storage/lsm/table_attributes.h). NotFound: a family to remove
/// does not exist. After an error, a part of the change may have been applied.
Status ChangeTable(const TableChange& change, TableDescriptor* table);

/// Returns the value of an attribute in the notation of the HBase shell, without quotes. `name` and
/// `value` are those of an attribute that DescribeSplitPolicy returns. A delimiter is written with
/// escapes.
std::string AttributeText(std::string_view name, std::string_view value);

/// Returns the text that creates a table with the same families, splits and split policy.
std::string TableText(const TableDescriptor& table);

}  // namespace hg::http
