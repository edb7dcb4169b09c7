#pragma once
// Names and limits of tables, and the text that describes a table (storage/table_descriptor.h).

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"
#include "storage/table_descriptor.h"

namespace hg::lsm {

// Maximum number of families of a table (region-store.md D6).
inline constexpr size_t kFamiliesMax = 16;
/// The maximum prefix length of the split policy KeyPrefixRegionSplitPolicy, in bytes.
inline constexpr uint32_t kSplitPrefixMax = 32767;
/// The maximum size of the delimiter of the split policy DelimitedKeyPrefixRegionSplitPolicy, in
/// bytes.
inline constexpr size_t kSplitDelimiterMax = 255;

/// The attributes with which HBase sets the split policy of a table.
inline constexpr std::string_view kSplitPolicy = "SPLIT_POLICY";
inline constexpr std::string_view kSplitPrefixLength = "KeyPrefixRegionSplitPolicy.prefix_length";
inline constexpr std::string_view kSplitDelimiter = "DelimitedKeyPrefixRegionSplitPolicy.delimiter";

/// Returns the table name without the namespace "default". Returns InvalidArgument if `name` cannot
/// be the name of a table.
Result<std::string> TableName(std::string_view name);

/// Returns the namespace of a table, or "" for the namespace "default". `table` must come from
/// TableName.
std::string_view NamespaceOf(std::string_view table);

/// Checks the attributes of a table. The messages of InvalidArgument and Unsupported name the wrong
/// attribute and its allowed values.
Status CheckDescriptor(const TableDescriptor& table);

/// Returns whether the existing table `there` has the properties of `wanted`. The order of families
/// does not matter. If the split policy of `wanted` is the default one, the existing table may have
/// any split policy.
bool SameDescriptor(const TableDescriptor& there, const TableDescriptor& wanted);

/// An attribute of a column family: its names, and the functions that read and set its value.
struct FamilyAttribute {
  std::string_view name;      // HBase's name, for example "MIN_VERSIONS"
  std::string_view option;    // option of the command line, for example "--min-versions"
  std::string_view argument;  // the possible values, for the usage text of the command line
  std::string_view meaning;
  Status (*set)(std::string_view name, std::string_view text, FamilyDescriptor* family);
  // A function that returns the value as text that `set` can parse.
  std::string (*text)(const FamilyDescriptor& family);
};
std::span<const FamilyAttribute> FamilyAttributes();

/// Sets the attribute with this name (upper or lower case). Attributes that only HBase has can only
/// be turned off. Returns InvalidArgument or Unsupported for any other name or value.
Status SetAttribute(std::string_view name, std::string_view text, FamilyDescriptor* family);

/// The attributes of a table, as pairs of name and value.
using TableAttributes = std::vector<std::pair<std::string, std::string>>;

/// Applies the attributes that set the split policy, and ignores all other attributes. SPLIT_POLICY
/// is DEFAULT or the name of a class of HBase, with or without its package and ending
/// "RegionSplitPolicy". It removes the previous length and delimiter. Returns Unsupported for an
/// unknown policy, and InvalidArgument for a bad length. After an error, *policy is unchanged.
Status SetSplitPolicy(const TableAttributes& attributes, TableSplitPolicy* policy);

/// Checks that a split policy by prefix has a length or a delimiter, and that no other policy has
/// one. The points table cannot have a split policy by prefix, because the points table never
/// divides the rows of one metric and hour.
Status CheckSplitPolicy(const TableDescriptor& table);

/// Returns the attributes that SetSplitPolicy reads. The default policy has no attributes.
TableAttributes DescribeSplitPolicy(const TableSplitPolicy& policy);

/// Returns the text in single quotes, with a backslash before each single quote in the text.
std::string Quoted(std::string_view text);

/// Returns the name and all attributes of the family as one text: "NAME => 't', VERSIONS => '1',
/// …". SetAttribute can parse each value.
std::string DescribeFamily(const FamilyDescriptor& family);

/// Returns whether the point store can store the points of the family. The family must keep one
/// version and no deleted cells, and must order its versions by cell time, as HBase does by
/// default.
bool FitsPoints(const FamilyDescriptor& family);

}  // namespace hg::lsm
