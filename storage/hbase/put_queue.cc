#include "storage/hbase/put_queue.h"

#include <algorithm>
#include <new>
#include <utility>

#include "storage/hbase/client.h"

namespace hg::hbase {
namespace {

using Service = wire::THBaseServiceClient;

bool IsTemporary(const Status& status) {
  return status.code() == StatusCode::kUnavailable || status.code() == StatusCode::kBusy;
}

}  // namespace

std::vector<Status> PutQueue::Send(const std::string& table, std::vector<Put> puts) {
  Caller caller{std::vector<Status>(puts.size()), puts.size()};
  std::unique_lock lock(mutex_);
  Lane& lane = lanes_[table];
  for (size_t i = 0; i < puts.size(); ++i) {
    lane.waiting_bytes += puts[i].bytes;
    lane.waiting.push_back({std::move(puts[i]), {&caller, i}});
  }
  while (caller.unknown > 0) {
    if (!MaySend(lane)) {
      lane.changed.wait(lock);
      continue;
    }
    const Batch batch = TakeBatch(&lane);
    ++lane.calls;
    ++batches_;
    rows_ += batch.puts.size();
    for (const wire::TPut& put : batch.puts) lane.rows_on_the_way.insert(put.row);
    lock.unlock();
    std::vector<Status> statuses = SendBatch(table, batch);
    lock.lock();
    --lane.calls;
    for (const wire::TPut& put : batch.puts) lane.rows_on_the_way.erase(put.row);
    const auto away = std::find_if(statuses.begin(), statuses.end(), [](const Status& status) {
      return status.code() == StatusCode::kUnavailable;
    });
    if (away != statuses.end()) FailWaiting(&lane, *away);
    for (size_t i = 0; i < statuses.size(); ++i) Tell(batch.places[i], std::move(statuses[i]));
    lane.changed.notify_all();
  }
  return std::move(caller.statuses);
}

void PutQueue::AddStats(HbaseStats* stats) {
  const std::lock_guard lock(mutex_);
  for (const auto& [table, lane] : lanes_) stats->puts_waiting += lane.waiting.size();
  stats->put_batches = batches_;
  stats->put_rows = rows_;
}

bool PutQueue::MaySend(const Lane& lane) const {
  // Calls that run side by side end in any order.
  if (lane.waiting.empty() || lane.rows_on_the_way.contains(lane.waiting.front().put.put.row)) {
    return false;
  }
  const bool full = lane.waiting.size() >= client_->options.batch_rows ||
                    lane.waiting_bytes >= client_->options.batch_bytes;
  return lane.calls == 0 || (full && lane.calls < kCallsMax);
}

PutQueue::Batch PutQueue::TakeBatch(Lane* lane) const {
  Batch batch;
  size_t bytes = 0;
  while (!lane->waiting.empty() && batch.puts.size() < client_->options.batch_rows) {
    Waiting& first = lane->waiting.front();
    if (!batch.puts.empty() && bytes + first.put.bytes > client_->options.batch_bytes) break;
    if (lane->rows_on_the_way.contains(first.put.put.row)) break;
    bytes += first.put.bytes;
    batch.puts.push_back(std::move(first.put.put));
    batch.places.push_back(first.place);
    lane->waiting.pop_front();
  }
  lane->waiting_bytes -= bytes;
  return batch;
}

void PutQueue::Tell(const Place& place, Status status) {
  place.caller->statuses[place.at] = std::move(status);
  --place.caller->unknown;
}

// Each would be waited for as long as the call that failed.
void PutQueue::FailWaiting(Lane* lane, const Status& away) {
  for (const Waiting& one : lane->waiting) Tell(one.place, away);
  lane->waiting.clear();
  lane->waiting_bytes = 0;
}

std::vector<Status> PutQueue::SendBatch(const std::string& table, const Batch& batch) {
  const int deadline_ms = client_->PutDeadlineMs(table);
  const auto send_one = [&](const wire::TPut& put) {
    const CallOptions call{"put", table, Repeat::kAlways, deadline_ms};
    return client_->Send(call, [&](Service& service) { service.put(table, put); });
  };
  try {
    if (batch.puts.size() == 1) return {send_one(batch.puts[0])};
    const Status sent =
        client_->Send({"putMultiple", table, Repeat::kAlways, deadline_ms},
                      [&](Service& service) { service.putMultiple(table, batch.puts); });
    std::vector<Status> statuses(batch.puts.size(), sent);
    // HBase does not say which of the rows it means, and has written the others. Where it is away
    // or busy it means none: asked for each, it would be waited for as often.
    if (sent.ok() || IsTemporary(sent)) return statuses;
    for (size_t i = 0; i < statuses.size(); ++i) statuses[i] = send_one(batch.puts[i]);
    return statuses;
  } catch (const std::bad_alloc&) {
    // Others wait for this answer, too.
    return std::vector<Status>(batch.puts.size(), Status::Unavailable("memory is short"));
  }
}

}  // namespace hg::hbase
