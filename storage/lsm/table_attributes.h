#pragma once
// Names and limits of tables, and the text form of table descriptors (storage/table_descriptor.h).

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "storage/base/status.h"
#include "storage/table_descriptor.h"

namespace hg::lsm {

inline constexpr size_t kFamiliesMax = 16;  // per table (region-store.md D6)
/// The maximum length of the prefix of the split policy KeyPrefixRegionSplitPolicy in bytes.
inline constexpr uint32_t kSplitPrefixMax = 32767;
/// The maximum size of the delimiter of DelimitedKeyPrefixRegionSplitPolicy in bytes.
inline constexpr size_t kSplitDelimiterMax = 255;

/// HBase's attributes of a table that set its split policy.
inline constexpr std::string_view kSplitPolicy = "SPLIT_POLICY";
inline constexpr std::string_view kSplitPrefixLength = "KeyPrefixRegionSplitPolicy.prefix_length";
inline constexpr std::string_view kSplitDelimiter = "DelimitedKeyPrefixRegionSplitPolicy.delimiter";

/// Returns the name without the namespace "default". InvalidArgument: the text cannot be the name
/// of a table.
Result<std::string> TableName(std::string_view name);

/// Returns the namespace of a table; "" = "default". `table` must come from TableName.
std::string_view NamespaceOf(std::string_view table);

/// Checks the attributes of a table. The messages of InvalidArgument and Unsupported have the name
/// of the wrong attribute and its allowed values.
Status CheckDescriptor(const TableDescriptor& table);

/// Returns whether the existing table `there` has the properties of `wanted`. The order of families
/// does not matter. If the wanted split policy is the default one, the existing table may have any
/// split policy.
bool SameDescriptor(const TableDescriptor& there, const TableDescriptor& wanted);

/// An attribute of a column family: its names, and the functions that read and set it.
struct FamilyAttribute {
  std::string_view name;      // HBase's name, for example "MIN_VERSIONS"
  std::string_view option;    // option of the command line, for example "--min-versions"
  std::string_view argument;  // the possible values, for the usage text
  std::string_view meaning;
  Status (*set)(std::string_view name, std::string_view text, FamilyDescriptor* family);
  // Returns the value in the form that `set` parses.
  std::string (*text)(const FamilyDescriptor& family);
};
std::span<const FamilyAttribute> FamilyAttributes();

/// Sets the attribute with this name in FamilyAttributes, in any case. An attribute of HBase that
/// has no effect in Hourglass may only have the value that turns it off.
Status SetAttribute(std::string_view name, std::string_view text, FamilyDescriptor* family);

/// The attributes of a table: pairs of name and value.
using TableAttributes = std::vector<std::pair<std::string, std::string>>;

/// Applies the attributes that set the split policy, and ignores others. SPLIT_POLICY is the name
/// of a class of HBase, also without its package or the ending "RegionSplitPolicy", or DEFAULT.
/// This attribute removes the previous length and delimiter. Unsupported: there is no such policy.
/// InvalidArgument: a length that is no number.
Status SetSplitPolicy(const TableAttributes& attributes, TableSplitPolicy* policy);

/// Checks that a policy by prefix has its length or delimiter, and that no other policy has one.
/// The table of points cannot have such a policy, because it never divides the rows of a metric and
/// hour.
Status CheckSplitPolicy(const TableDescriptor& table);

/// Returns the attributes that SetSplitPolicy reads; none for the default policy.
TableAttributes DescribeSplitPolicy(const TableSplitPolicy& policy);

/// Returns the text in single quotes, with a backslash before each quote in it.
std::string Quoted(std::string_view text);

/// Returns every attribute of the family in the form that SetAttribute parses: "NAME => 't',
/// VERSIONS => '1', …".
std::string DescribeFamily(const FamilyDescriptor& family);

/// Returns whether the engine can store the points of the family natively. The family must keep one
/// version and no deleted cells, and order its versions by cell time, as HBase does by default.
bool FitsPoints(const FamilyDescriptor& family);

}  // namespace hg::lsm
