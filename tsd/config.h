#pragma once
// The settings of a process. The command line overrides a Java properties file, which overrides the
// defaults of OpenTSDB's and Hourglass's keys (opentsdb-schema.md §19; known_settings.h). Only this
// folder knows the keys. Other layers get options structs (tsd/settings.h).

#include <cstdint>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "storage/base/status.h"

namespace hg::tsd {

/// Use one thread to fill the object. Then any number of threads may read it concurrently.
class Config {
 public:
  /// Creates settings in which every known key has its default value.
  Config();

  /// Loads the defaults, and then a file whose values replace them. If the path is empty, uses the
  /// first readable file of DefaultPlaces. If there is no readable file, uses only the defaults.
  /// IoError: the given file cannot be read.
  static Result<Config> Load(const std::string& path);
  /// Returns the paths that Load tries in this order if its argument is empty.
  static const std::vector<std::string>& DefaultPlaces();

  /// Returns the path of the file that was read; "" if none was read.
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Sets a value and remembers that the key was set.
  void Set(std::string_view key, std::string_view value);

  /// A key that was set but has no effect, and the reason (tsd/known_settings.h).
  struct Ineffective {
    std::string key, why;
    bool operator==(const Ineffective&) const = default;
  };
  [[nodiscard]] std::vector<Ineffective> IneffectiveSettings() const;

  /// Returns whether the key has a value that is not empty.
  [[nodiscard]] bool Has(std::string_view key) const { return !String(key).empty(); }
  /// Returns the value as the user wrote it; "" if the key has no value.
  [[nodiscard]] const std::string& String(std::string_view key) const;
  /// Returns whether the trimmed value is "1", "true" or "yes" in any case.
  [[nodiscard]] bool Bool(std::string_view key) const;
  /// Returns a trimmed decimal number in [min, max], or `absent` if the key has no value or an
  /// empty one. The message of InvalidArgument names the key and the value.
  [[nodiscard]] Result<int64_t> Int(std::string_view key, int64_t absent, int64_t min,
                                    int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// Returns the value. If the value ends in ".json", it is a path, and the function returns the
  /// content of that file. IoError: the file cannot be read.
  [[nodiscard]] Result<std::string> JsonText(std::string_view key) const;
  /// Returns the words of a comma-separated value. They are trimmed, and empty words are left out.
  [[nodiscard]] std::vector<std::string> List(std::string_view key) const;

  /// Returns all effective settings for /api/config. Values of keys that name a credential are
  /// masked.
  [[nodiscard]] std::map<std::string, std::string> Shown() const;

 private:
  void Apply(std::string_view properties);

  std::map<std::string, std::string, std::less<>> values_;
  std::string file_;
  std::set<std::string, std::less<>> set_;  // keys that were set
};

}  // namespace hg::tsd
