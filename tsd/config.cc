#include "tsd/config.h"

#include <charconv>
#include <fstream>
#include <sstream>

#include "storage/model/letter_case.h"
#include "tsd/known_settings.h"
#include "tsd/properties.h"

namespace hg::tsd {
namespace {

/// Returns whether the key belongs to HBase's client library. In OpenTSDB, that library reads the
/// same file.
bool IsHBaseClientKey(std::string_view key) {
  return key.starts_with("hbase.") || key.starts_with("zookeeper.");
}

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Result<std::string> ReadFile(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  if (!in || !(text << in.rdbuf())) {
    // The fail bit is not checked, because the insertion also sets it for an empty file, which is
    // valid.
    if (!in.is_open() || in.bad()) return Status::IoError("cannot read the settings file " + path);
  }
  return std::move(text).str();
}

/// Returns whether the name of a setting suggests that its value is a credential. The names of all
/// credentials are not known, because files written for OpenTSDB may contain settings of plug-ins.
bool IsCredential(std::string_view key) {
  const std::string lower = LowerCase(key);
  for (const std::string_view word :
       {"pass", "secret", "token", "credential", "apikey", "api_key", "api.key"}) {
    if (lower.find(word) != std::string::npos) return true;
  }
  return false;
}

}  // namespace

Config::Config() {
  for (const KnownSetting& known : KnownSettings()) values_.emplace(known.key, known.default_value);
}

const std::vector<std::string>& Config::DefaultPlaces() {
  // The Debian package (setup/debian) installs the second file. The other places are OpenTSDB's.
  static const std::vector<std::string> places = {
      "./opentsdb.conf", "/etc/hourglass/hourglass.conf", "/etc/opentsdb.conf",
      "/etc/opentsdb/opentsdb.conf", "/opt/opentsdb/opentsdb.conf"};
  return places;
}

Result<Config> Config::Load(const std::string& path) {
  Config config;
  if (!path.empty()) {
    ASSIGN_OR_RETURN(std::string text, ReadFile(path));
    config.file_ = path;
    config.Apply(text);
    return config;
  }
  for (const std::string& place : DefaultPlaces()) {
    Result<std::string> text = ReadFile(place);
    if (!text.ok()) continue;
    config.file_ = place;
    config.Apply(*text);
    break;
  }
  return config;
}

void Config::Apply(std::string_view properties) {
  for (auto& [key, value] : ParseProperties(properties)) Set(key, value);
}

void Config::Set(std::string_view key, std::string_view value) {
  values_[std::string(key)] = std::string(value);
  set_.emplace(key);
}

std::vector<Config::Ineffective> Config::IneffectiveSettings() const {
  std::vector<Ineffective> out;
  for (const std::string& key : set_) {
    const KnownSetting* known = FindSetting(key);
    if (known != nullptr && known->no_effect.empty()) continue;
    const std::string_view why = known != nullptr ? known->no_effect
                                 : IsHBaseClientKey(key)
                                     ? "it configures the client library of HBase"
                                     : "Hourglass does not know this setting";
    out.push_back({key, std::string(why)});
  }
  return out;
}

const std::string& Config::String(std::string_view key) const {
  static const std::string empty;
  auto it = values_.find(key);
  return it == values_.end() ? empty : it->second;
}

bool Config::Bool(std::string_view key) const {
  const std::string value = LowerCase(Trim(String(key)));
  return value == "1" || value == "true" || value == "yes";
}

Result<bool> Config::StrictBool(std::string_view key) const {
  if (Bool(key)) return true;
  const std::string value = LowerCase(Trim(String(key)));
  if (value.empty() || value == "0" || value == "false" || value == "no" || value == "off")
    return false;
  return Status::InvalidArgument("setting " + std::string(key) + " = \"" + String(key) +
                                 "\" is neither true (1, true, yes) nor false (0, false, no, off)");
}

Result<int64_t> Config::Int(std::string_view key, int64_t absent, int64_t min, int64_t max) const {
  const std::string_view text = Trim(String(key));
  if (text.empty()) return absent;
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string named = "setting " + std::string(key) + " = \"" + std::string(text) + "\"";
  if (error != std::errc() || end != text.data() + text.size())
    return Status::InvalidArgument(named + " is not a whole number");
  if (value < min || value > max) {
    const bool open = max == std::numeric_limits<int64_t>::max();
    return Status::InvalidArgument(named + " is out of range: it must be at least " +
                                   std::to_string(min) +
                                   (open ? "" : " and at most " + std::to_string(max)));
  }
  return value;
}

Result<std::string> Config::JsonText(std::string_view key) const {
  const std::string& value = String(key);
  if (!value.ends_with(".json")) return value;
  Result<std::string> text = ReadFile(value);
  if (text.ok()) return text;
  return Status::IoError("setting " + std::string(key) + " = \"" + value +
                         "\": the file cannot be read");
}

std::vector<std::string> Config::List(std::string_view key) const {
  std::vector<std::string> out;
  std::string_view rest = String(key);
  while (!rest.empty()) {
    const size_t comma = rest.find(',');
    const std::string_view item = Trim(rest.substr(0, comma));
    if (!item.empty()) out.emplace_back(item);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return out;
}

std::map<std::string, std::string> Config::Shown() const {
  std::map<std::string, std::string> out;
  for (const auto& [key, value] : values_) out[key] = IsCredential(key) ? "********" : value;
  return out;
}

}  // namespace hg::tsd
