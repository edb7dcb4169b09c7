#pragma once
// Reads and writes the families, the split keys and the split policy of a table in the notation of
// HBase's shell:
//
//   {NAME => 'f1', TTL => '3d'}, {NAME => 'f2', VERSIONS => 3}, SPLITS => ['a', 'm']
//   SPLIT_POLICY => 'KeyPrefixRegionSplitPolicy',
//     METADATA => {'KeyPrefixRegionSplitPolicy.prefix_length' => 4}
//
// Quotes are optional around words without blanks and punctuation. A word alone names a family.
// {NAME => 'f1', METHOD => 'delete'} and 'delete' => 'f1' remove a family. In a split key and a
// delimiter, \xHH is a byte and \\ is a backslash.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/bytes.h"
#include "storage/base/status.h"
#include "storage/lsm/table_attributes.h"
#include "storage/table_descriptor.h"

namespace hg::http {

/// Maximum number of split keys. More regions are never useful, and each region makes the manifest
/// longer.
inline constexpr uint32_t kSplitsMax = 1000;

/// A change of a table. A new table is described as a change of an empty table.
struct TableChange {
  struct Family {
    Bytes name;
    // Names and values in HBase's notation.
    std::vector<std::pair<std::string, std::string>> attributes = {};
    bool remove = false;
  };
  std::vector<Family> families;  // each name once
  std::vector<Bytes> splits;
  lsm::TableAttributes attributes;  // those of the split policy
};

/// Parses a change. InvalidArgument: a syntax error, or a family that occurs twice. Unsupported: a
/// table attribute that the store does not support; the error message has its name and value.
Result<TableChange> ParseTableText(std::string_view text);

/// Applies the change to the families and the split policy. Attributes that are not in the change
/// keep their values; in a new family they have their defaults. Returns the errors of SetAttribute
/// and SetSplitPolicy (storage/lsm/table_attributes.h), and NotFound if a family to remove does not
/// exist. After an error, the descriptor may be partly changed.
Status ChangeTable(const TableChange& change, TableDescriptor* table);

/// Returns the text of an attribute of DescribeSplitPolicy: a delimiter has escapes.
std::string AttributeText(std::string_view name, std::string_view value);

/// Returns the text that creates a table with these families, splits and split policy.
std::string TableText(const TableDescriptor& table);

}  // namespace hg::http
