#pragma once
// The settings of a process. A value on the command line overrides the value in the Java properties
// file, and a value in this file overrides the default value. The default values are in
// known_settings.h (opentsdb-schema.md §19). Only the code in tsd/ knows the keys. Other layers get
// options structs (tsd/settings.h).

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::tsd {

/// The settings of a process. Only one thread may fill the object. After that, any number of
/// threads may read it at the same time.
class Config {
 public:
  /// Creates settings in which every known key has its default value.
  Config();

  /// Loads the defaults, and then a file whose values replace the defaults. If the path is empty,
  /// uses the first readable file of DefaultPlaces. If none of these files is readable, uses only
  /// the defaults. IoError: the file with the given path cannot be read.
  static Result<Config> Load(const std::string& path);
  /// Returns the paths that Load tries, in this order, if its argument is empty.
  static const std::vector<std::string>& DefaultPlaces();

  /// Returns the path of the file that was read, or "" if no file was read.
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Sets a value, and records that the key was set.
  void Set(std::string_view key, std::string_view value);

  /// A key that was set but has no effect, and the reason (tsd/known_settings.h).
  struct Ineffective {
    std::string key, why;
    bool operator==(const Ineffective&) const = default;
  };
  [[nodiscard]] std::vector<Ineffective> IneffectiveSettings() const;

  /// Returns whether the key has a value, and this value is not the empty string.
  [[nodiscard]] bool Has(std::string_view key) const { return !String(key).empty(); }
  /// Returns the value as the user wrote it, or "" if the key has no value.
  [[nodiscard]] const std::string& String(std::string_view key) const;
  /// Returns whether the value, without blanks around it, is "1", "true" or "yes". The case of
  /// letters is ignored.
  [[nodiscard]] bool Bool(std::string_view key) const;
  /// Returns the same value as Bool. InvalidArgument: the value is none of "1", "true", "yes", "0",
  /// "false", "no", "off" and "". For settings that protect the daemon: a mistyped value of such a
  /// setting must not mean false.
  [[nodiscard]] Result<bool> StrictBool(std::string_view key) const;
  /// Parses the value as a decimal number in [min, max], without the blanks around it. Returns
  /// `absent` if the key has no value or an empty value. The message of InvalidArgument contains
  /// the key and the value.
  [[nodiscard]] Result<int64_t> Int(std::string_view key, int64_t absent, int64_t min,
                                    int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// Returns JSON text. If the value of the key ends in ".json", the value is a path, and the
  /// function returns the content of this file. Otherwise it returns the value itself. IoError: the
  /// file cannot be read.
  [[nodiscard]] Result<std::string> JsonText(std::string_view key) const;
  /// Returns the words of a comma-separated value, without the blanks around them. Empty words are
  /// left out.
  [[nodiscard]] std::vector<std::string> List(std::string_view key) const;

  /// Returns all effective settings for /api/config. The values of keys that name a credential are
  /// masked.
  [[nodiscard]] std::map<std::string, std::string> Shown() const;

 private:
  void Apply(std::string_view properties);

  std::map<std::string, std::string, std::less<>> values_;
  std::string file_;
  std::set<std::string, std::less<>> set_;  // keys that the file or a caller of Set has set
};

}  // namespace hg::tsd
