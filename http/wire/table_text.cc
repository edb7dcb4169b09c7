#include "http/wire/table_text.h"

#include <algorithm>
#include <charconv>

#include "storage/lsm/table_attributes.h"
#include "storage/model/letter_case.h"
#include "storage/region/pre_split.h"

namespace hg::http {
namespace {

struct Pair {
  std::string name;
  std::vector<std::string> values;
  bool list = false;

  [[nodiscard]] std::string ToString() const {
    std::string text;
    for (const std::string& value : values) text += (text.empty() ? "" : ", ") + value;
    return name + " => '" + text + "'";
  }
};

Status Misplaced(std::string_view what, std::string_view rest) {
  const std::string at = rest.empty() ? "at the end" : "before \"" + std::string(rest) + "\"";
  return Status::InvalidArgument("Invalid table description: expected " + std::string(what) + " " +
                                 at);
}

class TableReader {
 public:
  explicit TableReader(std::string_view text) : rest_(text) {}

  Result<TableChange> ReadAll() {
    std::vector<Pair> loose;  // pairs outside of braces belong together
    do {
      if (Take("{")) {
        std::vector<Pair> group;
        do {
          ASSIGN_OR_RETURN(std::string name, ReadWord());
          RETURN_IF_ERROR(ReadPair(std::move(name), &group));
        } while (Take(","));
        if (!Take("}")) return Misplaced("',' or '}'", rest_);
        RETURN_IF_ERROR(AddGroup(group));
        continue;
      }
      ASSIGN_OR_RETURN(std::string word, ReadWord());
      if (Sees("=>")) {
        RETURN_IF_ERROR(ReadPair(std::move(word), &loose));
      } else {
        RETURN_IF_ERROR(AddFamily({std::move(word)}));
      }
    } while (Take(","));
    SkipBlanks();
    if (!rest_.empty()) return Misplaced("','", rest_);
    if (!loose.empty()) RETURN_IF_ERROR(AddGroup(loose));
    return std::move(change_);
  }

 private:
  void SkipBlanks() {
    while (!rest_.empty() && (rest_[0] == ' ' || rest_[0] == '\t' || rest_[0] == '\n'))
      rest_.remove_prefix(1);
  }
  bool Sees(std::string_view token) {
    SkipBlanks();
    return rest_.starts_with(token);
  }
  bool Take(std::string_view token) {
    if (!Sees(token)) return false;
    rest_.remove_prefix(token.size());
    return true;
  }

  Result<std::string> ReadWord() {
    if (Sees("'") || Sees("\"")) return ReadQuoted();
    const size_t size =
        std::min({rest_.find_first_of(" \t\n,{}[]'\""), rest_.find("=>"), rest_.size()});
    if (size == 0) return Misplaced("a name or value", rest_);
    std::string word(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return word;
  }

  // Reads a quoted text. Only the quote itself is unescaped, so that a split key keeps its escapes.
  Result<std::string> ReadQuoted() {
    const std::string_view all = rest_;
    const char quote = all[0];
    std::string word;
    for (size_t i = 1; i < all.size(); ++i) {
      if (all[i] == quote) {
        rest_ = all.substr(i + 1);
        return word;
      }
      if (all[i] == '\\' && i + 1 < all.size() && (all[i + 1] == quote || all[i + 1] == '\\')) {
        if (all[++i] == '\\') word += '\\';
      }
      word += all[i];
    }
    return Status::InvalidArgument("Invalid table description: no closing quote in " +
                                   std::string(all));
  }

  Status ReadPair(std::string name, std::vector<Pair>* group) {
    Pair& pair = group->emplace_back();
    pair.name = UpperCase(name);
    if (!Take("=>")) return Misplaced("'=>'", rest_);
    if ((pair.name == "METADATA" || pair.name == "CONFIGURATION") && Take("{")) {
      // The pairs in these braces are attributes like those outside of them.
      group->pop_back();
      do {
        ASSIGN_OR_RETURN(std::string inner, ReadWord());
        RETURN_IF_ERROR(ReadPair(std::move(inner), group));
      } while (Take(","));
      return Take("}") ? Status() : Misplaced("',' or '}'", rest_);
    }
    pair.list = Take("[");
    if (pair.list && Take("]")) return {};
    do {
      ASSIGN_OR_RETURN(pair.values.emplace_back(), ReadWord());
    } while (pair.list && Take(","));
    if (pair.list && !Take("]")) return Misplaced("',' or ']'", rest_);
    return {};
  }

  Status AddFamily(TableChange::Family family) {
    for (const TableChange::Family& other : change_.families) {
      if (other.name == family.name)
        return Status::InvalidArgument("family '" + family.name + "' is named twice");
    }
    change_.families.push_back(std::move(family));
    return {};
  }

  Status AddGroup(const std::vector<Pair>& group) {
    const auto value_of = [&group](std::string_view name) -> const std::string* {
      for (const Pair& pair : group)
        if (pair.name == name && !pair.list) return pair.values.data();
      return nullptr;
    };
    const std::string* const name = value_of("NAME");
    TableChange::Family family;
    if (name != nullptr) family.name = *name;
    for (const Pair& pair : group) {
      if (pair.name == "SPLITS" && pair.list) {
        for (const std::string& key : pair.values) {
          ASSIGN_OR_RETURN(change_.splits.emplace_back(), region::ParseKey(key));
        }
      } else if (pair.list) {
        return Status::InvalidArgument(pair.ToString() + ": only SPLITS takes a list in brackets");
      } else if (pair.name == "NUMREGIONS") {
        RETURN_IF_ERROR(AddShares(pair.values[0], value_of("SPLITALGO")));
      } else if (pair.name == "SPLITALGO" && value_of("NUMREGIONS") != nullptr) {
        continue;
      } else if (pair.name == "DELETE") {
        RETURN_IF_ERROR(AddFamily({pair.values[0], {}, true}));
      } else if (pair.name == "METHOD") {
        if (name == nullptr || LowerCase(pair.values[0]) != "delete")
          return Status::Unsupported(pair.ToString() + ": expected 'delete' and a NAME");
        family.remove = true;
      } else if (pair.name == UpperCase(lsm::kSplitPolicy) ||
                 pair.name == UpperCase(lsm::kSplitPrefixLength)) {
        change_.attributes.emplace_back(pair.name, pair.values[0]);
      } else if (pair.name == UpperCase(lsm::kSplitDelimiter)) {
        ASSIGN_OR_RETURN(Bytes delimiter, region::ParseKey(pair.values[0]));
        change_.attributes.emplace_back(pair.name, std::move(delimiter));
      } else if (name == nullptr) {
        return Status::Unsupported(
            pair.ToString() +
            ": Hourglass has no such attribute of a table. For an attribute of a family, write "
            "NAME => 'FAMILY' into the same braces");
      } else if (pair.name != "NAME") {
        family.attributes.emplace_back(pair.name, pair.values[0]);
      }
    }
    return name == nullptr ? Status() : AddFamily(std::move(family));
  }

  Status AddShares(const std::string& text, const std::string* algorithm) {
    uint32_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc() || end != text.data() + text.size() || count < 1 ||
        count > kSplitsMax) {
      return Status::InvalidArgument("NUMREGIONS '" + text + "': expected 1 to " +
                                     std::to_string(kSplitsMax));
    }
    if (algorithm == nullptr || (*algorithm != "HexStringSplit" && *algorithm != "UniformSplit")) {
      return Status::Unsupported("SPLITALGO '" + (algorithm == nullptr ? "" : *algorithm) +
                                 "': expected HexStringSplit or UniformSplit");
    }
    change_.splits =
        *algorithm == "UniformSplit" ? region::UniformSplits(count) : region::HexSplits(count);
    return {};
  }

  std::string_view rest_;
  TableChange change_;
};

}  // namespace

Result<TableChange> ParseTableText(std::string_view text) { return TableReader(text).ReadAll(); }

Status ChangeTable(const TableChange& change, TableDescriptor* table) {
  RETURN_IF_ERROR(lsm::SetSplitPolicy(change.attributes, &table->split_policy));
  for (const TableChange::Family& family : change.families) {
    auto at =
        std::find_if(table->families.begin(), table->families.end(),
                     [&](const FamilyDescriptor& known) { return known.name == family.name; });
    if (family.remove) {
      if (at == table->families.end()) {
        return Status::NotFound("table '" + table->name + "' has no family '" + family.name + "'");
      }
      table->families.erase(at);
      continue;
    }
    if (at == table->families.end()) at = table->families.insert(at, {family.name});
    for (const auto& [name, text] : family.attributes) {
      RETURN_IF_ERROR(Prepend(lsm::SetAttribute(name, text, &*at), "family '" + family.name + "'"));
    }
  }
  return {};
}

std::string AttributeText(std::string_view name, std::string_view value) {
  return name == lsm::kSplitDelimiter ? region::KeyText(value) : std::string(value);
}

std::string TableText(const TableDescriptor& table) {
  std::string text;
  for (const FamilyDescriptor& family : table.families)
    text += (text.empty() ? "{" : ", {") + lsm::DescribeFamily(family) + "}";
  std::string keys;
  for (const Bytes& key : table.splits)
    keys += (keys.empty() ? "" : ", ") + lsm::Quoted(region::KeyText(key));
  if (!keys.empty()) text += ", SPLITS => [" + keys + "]";
  for (const auto& [name, value] : lsm::DescribeSplitPolicy(table.split_policy)) {
    text += ", " + lsm::Quoted(name) + " => " + lsm::Quoted(AttributeText(name, value));
  }
  return text;
}

}  // namespace hg::http
