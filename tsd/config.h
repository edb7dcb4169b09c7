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

/// Not thread-safe while it is built. Afterwards any number of threads may read it.
class Config {
 public:
  /// Creates settings in which every known key has its default.
  Config();

  /// Loads the defaults and a file over them. With an empty path it uses the first readable file of
  /// the default places, or none. IoError: the given file cannot be read.
  static Result<Config> Load(const std::string& path);
  /// The paths that Load tries without a path, in order.
  static const std::vector<std::string>& DefaultPlaces();

  /// The file that was read; empty if none.
  [[nodiscard]] const std::string& file() const { return file_; }
  /// Sets a value and remembers that the key was set.
  void Set(std::string_view key, std::string_view value);

  /// A key that was set but has no effect, with the reason (tsd/known_settings.h).
  struct Ineffective {
    std::string key, why;
    bool operator==(const Ineffective&) const = default;
  };
  [[nodiscard]] std::vector<Ineffective> IneffectiveSettings() const;

  /// Whether the value is present and not empty.
  [[nodiscard]] bool Has(std::string_view key) const { return !String(key).empty(); }
  /// Returns the value as written; empty if absent.
  [[nodiscard]] const std::string& String(std::string_view key) const;
  /// Returns true for "1", "true" and "yes" in any case after trimming, else false.
  [[nodiscard]] bool Bool(std::string_view key) const;
  /// Returns a trimmed decimal number in [min, max], or `absent` if the value is absent or empty.
  /// InvalidArgument names the key and the value.
  [[nodiscard]] Result<int64_t> Int(std::string_view key, int64_t absent, int64_t min,
                                    int64_t max = std::numeric_limits<int64_t>::max()) const;
  /// Returns the value, or the content of the file if it names one (ending in ".json"). IoError:
  /// the file cannot be read.
  [[nodiscard]] Result<std::string> JsonText(std::string_view key) const;
  /// Returns the comma-separated words, trimmed, without empty ones.
  [[nodiscard]] std::vector<std::string> List(std::string_view key) const;

  /// Returns all effective settings for /api/config. Values of keys that name a credential are
  /// masked.
  [[nodiscard]] std::map<std::string, std::string> Shown() const;

 private:
  void Apply(std::string_view properties);

  std::map<std::string, std::string, std::less<>> values_;
  std::string file_;
  std::set<std::string, std::less<>> set_;  // keys
};

}  // namespace hg::tsd
