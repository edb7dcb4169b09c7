#include "tsd/hbase_backend.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "storage/hbase/hbase_store.h"
#include "storage/points/points_over_cells.h"
#include "tsd/log.h"
#include "tsd/settings.h"
#include "tsd/spool_settings.h"
#include "tsd/tables.h"

namespace hg::tsd {
namespace {

template <typename T>
Result<T> OneOf(const Config& config, const char* key,
                const std::vector<std::pair<std::string_view, T>>& words) {
  const std::string& text = config.String(key);
  std::string all;
  for (const auto& [word, value] : words) {
    if (text == word) return value;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  return Status::InvalidArgument("setting " + std::string(key) + " = \"" + text +
                                 "\" is not one of " + all);
}

Result<std::vector<hbase::Gateway>> ReadGateways(const Config& config) {
  const std::string& text = config.String("tsd.storage.hbase.thrift");
  std::vector<hbase::Gateway> gateways;
  for (std::string_view rest = text; !rest.empty();) {
    const size_t end = std::min(rest.find(','), rest.size());
    std::string_view one = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (one.starts_with(' ')) one.remove_prefix(1);
    while (one.ends_with(' ')) one.remove_suffix(1);
    const size_t colon = std::min(one.rfind(':'), one.size());
    const std::string_view port = one.substr(std::min(colon + 1, one.size()));
    hbase::Gateway gateway;
    gateway.host = one.substr(0, colon);
    const auto [stop, error] = std::from_chars(port.begin(), port.end(), gateway.port);
    if (gateway.host.empty() || error != std::errc() || stop != port.end() || gateway.port < 1 ||
        gateway.port > 65535) {
      return Status::InvalidArgument("setting tsd.storage.hbase.thrift = \"" + text + "\": \"" +
                                     std::string(one) + "\" is not of the form host:port");
    }
    gateways.push_back(std::move(gateway));
  }
  if (gateways.empty())
    return Status::InvalidArgument("setting tsd.storage.hbase.thrift names no gateway");
  return gateways;
}

// Returns the descriptor of a new table with the attributes that OpenTSDB gives it. Compression is
// set to NONE, because the codecs of the cluster are not known.
TableDescriptor NewTable(TableDescriptor table) {
  for (FamilyDescriptor& family : table.families) {
    family.compression = "NONE";
    family.data_block_encoding = "DIFF";
  }
  return table;
}

Status CheckFamilies(const TableDescriptor& there, const TableDescriptor& wanted) {
  for (const FamilyDescriptor& family : wanted.families) {
    if (std::none_of(there.families.begin(), there.families.end(),
                     [&](const auto& f) { return f.name == family.name; }))
      return Status::InvalidArgument("HBase's table " + wanted.name + " has no family " +
                                     family.name);
  }
  return {};
}

void ShowHbaseStats(const hbase::HbaseStats& stats, const StatVisitor& visit) {
  const auto show = [&](const std::string& name, const std::string& tags, uint64_t value) {
    visit("hbase.gateway." + name, tags, static_cast<int64_t>(value));
  };
  for (const hbase::HbaseStats::Calls& calls : stats.calls) {
    const std::string tags = "method=" + calls.method;
    show("calls", tags, calls.calls);
    show("repeats", tags, calls.repeats);
    show("failures", tags, calls.failures);
    show("refused", tags, calls.refused);
    for (size_t i = 0; i < calls.millis.size(); ++i) {
      const std::string percent = std::to_string(hbase::HbaseStats::kPercentiles[i]);
      visit("hbase.gateway.latency_" + percent + "pct", tags, calls.millis[i]);
    }
  }
  for (const hbase::HbaseStats::Connections& gateway : stats.gateways) {
    // Tags must not contain a colon.
    const std::string tags = "gateway=" + gateway.host + " port=" + std::to_string(gateway.port);
    show("connections", tags + " state=open", gateway.open);
    show("connections", tags + " state=idle", gateway.idle);
    show("connections.opened", tags, gateway.opened);
    show("away", tags, gateway.away ? 1 : 0);
  }
  if (stats.spool) {
    const auto wait = [&](const std::string& name, int64_t value) {
      visit("hbase.spool." + name, "", value);
    };
    wait("bytes", static_cast<int64_t>(stats.spool->bytes));
    wait("age", stats.spool->age_ms);
    wait("stuck", stats.spool->stuck_ms);
    wait("taken", static_cast<int64_t>(stats.spool->rows_taken));
    wait("replayed", static_cast<int64_t>(stats.spool->rows_replayed));
    wait("refused", static_cast<int64_t>(stats.spool->rows_refused));
    wait("set_aside", static_cast<int64_t>(stats.spool->rows_set_aside));
    wait("replay_rate", static_cast<int64_t>(stats.spool->replay_rows_per_s));
  }
  show("puts.waiting", "", stats.puts_waiting);
  show("puts.batches", "", stats.put_batches);
  show("puts.rows", "", stats.put_rows);
}

class HbaseBackend : public Backend {
 public:
  HbaseBackend(std::unique_ptr<hbase::HbaseStore> store, points::PointsOverCellsOptions options)
      : store_(std::move(store)), points_(store_.get(), std::move(options)) {}

  Store& cells() override { return *store_; }
  Points& points() override { return points_; }
  [[nodiscard]] bool remote() const override { return true; }
  void ListenForWrittenRows(std::function<void(ByteView key, uint32_t base)> listener) override {
    points_.ListenForWrittenRows(std::move(listener));
  }
  [[nodiscard]] bool WritesWait() override {
    const auto spool = store_->Stats().spool;
    return spool && spool->bytes > 0;
  }
  void CollectStats(const StatVisitor& visit) override { ShowHbaseStats(store_->Stats(), visit); }
  void CollectLatencies(const LatencyVisitor& visit) override {
    for (const hbase::HbaseStats::Calls& calls : store_->Stats().calls)
      visit("hbase.gateway.latency", "method=" + calls.method, calls.took);
  }
  /// Returns the reason why points wait in the spool, or the points that HBase rejected. Returns ok
  /// if no points wait or were rejected.
  Status Health() override {
    const auto spool = store_->Stats().spool;
    if (!spool) return {};
    if (!spool->failure.empty())
      return Status::Unavailable("points wait in the spool: " + spool->failure);
    if (spool->set_aside.empty()) return {};
    return Status::InvalidArgument("HBase refused rows of the spool; they were moved aside: " +
                                   spool->set_aside);
  }
  Status TruncateTable(const std::string& table) override { return store_->TruncateTable(table); }
  Status Close() override { return store_->Sync(); }

 private:
  const std::unique_ptr<hbase::HbaseStore> store_;
  points::PointsOverCells points_;
};

}  // namespace

Status EnsureHbaseTables(const Config& config, Store& store, StoreUse use) {
  ASSIGN_OR_RETURN(const std::vector<TableDescriptor> tables, DescribeTables(config));
  for (const TableDescriptor& table : tables) {
    const auto there = store.DescribeTable(table.name);
    if (there.ok()) {
      RETURN_IF_ERROR(CheckFamilies(*there, table));
      continue;
    }
    if (there.status().code() != StatusCode::kNotFound) return there.status();
    if (use == StoreUse::kLook) continue;
    if (!config.Bool("tsd.storage.hbase.create_tables"))
      return Status::NotFound("HBase has no table " + table.name +
                              ", and tsd.storage.hbase.create_tables is off");
    RETURN_IF_ERROR(Prepend(store.CreateTable(NewTable(table)), "table " + table.name));
    LogInfo("hbase", "created a table", {{"table", table.name}});
  }
  return {};
}

Result<hbase::HbaseOptions> ReadHbaseOptions(const Config& config) {
  using hbase::Transport;
  using hbase::WriteAhead;
  hbase::HbaseOptions options;
  ASSIGN_OR_RETURN(options.gateways, ReadGateways(config));
  ASSIGN_OR_RETURN(options.transport, OneOf<Transport>(config, "tsd.storage.hbase.thrift.transport",
                                                       {{"buffered", Transport::kBuffered},
                                                        {"framed", Transport::kFramed},
                                                        {"http", Transport::kHttp}}));
  ASSIGN_OR_RETURN(options.compact, OneOf<bool>(config, "tsd.storage.hbase.thrift.protocol",
                                                {{"binary", false}, {"compact", true}}));
  ASSIGN_OR_RETURN(options.write_ahead, OneOf<WriteAhead>(config, "tsd.storage.durability",
                                                          {{"synced", WriteAhead::kSynced},
                                                           {"logged", WriteAhead::kDefault},
                                                           {"buffered", WriteAhead::kAsync},
                                                           {"none", WriteAhead::kSkip}}));
  ASSIGN_OR_RETURN(const int64_t connections,
                   config.Int("tsd.storage.hbase.thrift.connections", 8, 1, 16));
  ASSIGN_OR_RETURN(const int64_t timeout_ms,
                   config.Int("tsd.storage.hbase.thrift.timeout", 35'000, 1, 3'600'000));
  ASSIGN_OR_RETURN(const int64_t deadline_ms,
                   config.Int("tsd.storage.hbase.thrift.deadline", 30'000, 1, 3'600'000));
  options.connections = static_cast<size_t>(connections);
  options.receive_timeout_ms = static_cast<int>(timeout_ms);
  options.deadline_ms = static_cast<int>(deadline_ms);
  ASSIGN_OR_RETURN(options.layout, ReadKeyLayout(config));
  return options;
}

Result<std::unique_ptr<Backend>> OpenHbaseBackend(const Config& config,
                                                  const std::string& /*words*/, StoreUse use) {
  ASSIGN_OR_RETURN(hbase::HbaseOptions options, ReadHbaseOptions(config));
  points::PointsOverCellsOptions points;
  points.layout = options.layout;
  points.table = config.String("tsd.storage.hbase.data_table");
  points.use_otsdb_timestamp = config.Bool("tsd.storage.use_otsdb_timestamp");
  points.enable_appends = config.Bool("tsd.storage.enable_appends");
  points.last_of_time = config.Bool("tsd.storage.fix_duplicates") && !points.use_otsdb_timestamp;
  points.remote = true;
  if (use == StoreUse::kServe) {
    ASSIGN_OR_RETURN(options.spool, ReadSpoolOptions(config));
  }
  ASSIGN_OR_RETURN(auto store, hbase::HbaseStore::Connect(options));
  if (options.spool) NoteSpoolFolder(config, options.spool->folder, PosixFileSystem());
  RETURN_IF_ERROR(EnsureHbaseTables(config, *store, use));
  points.takes_writes = [raw = store.get()] { return raw->TakesWrites(); };
  return std::unique_ptr<Backend>(
      std::make_unique<HbaseBackend>(std::move(store), std::move(points)));
}

}  // namespace hg::tsd
