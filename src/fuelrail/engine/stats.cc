#include "fuelrail/engine/stats.h"

#include <fmt/format.h>

#include <string_view>

namespace fuelrail {
namespace {

std::string line_of(std::string_view name, const StageStats& stage) {
  return fmt::format("{:<8} {:>9.2f} {:>9.2f} {:>6.0f} {:>10} {:>10.1f} {:>7.1f}\n", name,
                     stage.busy_seconds, stage.waiting_seconds, 100 * busy_share(stage),
                     stage.items, static_cast<double>(stage.bytes) / 1e6, stage.mean_queue_depth);
}

std::string line_of_all(const Stats& stats) {
  std::string text = fmt::format("{:.2f} s", stats.seconds);
  text += stats.limit.empty() ? ", no batch yet" : ", limited by " + stats.limit;
  if (!stats.read_backend.empty()) text += ", reads by " + stats.read_backend;
  text += fmt::format(", {} {} held by the user", stats.slots_lent,
                      stats.slots_lent == 1 ? "batch" : "batches");
  if (stats.counts.tolerated > 0)
    text += fmt::format(", {} oddities tolerated", stats.counts.tolerated);
  return text;
}

}  // namespace

double busy_share(const StageStats& stage) {
  const double total = stage.busy_seconds + stage.waiting_seconds;
  return total > 0 ? stage.busy_seconds / total : 0;
}

std::string to_table(const Stats& stats) {
  std::string text = fmt::format("{:<8} {:>9} {:>9} {:>6} {:>10} {:>10} {:>7}\n", "stage",
                                 "busy, s", "waits, s", "busy %", "items", "MB", "queue");
  text += line_of("fetch", stats.fetch);
  text += line_of("process", stats.process);
  text += line_of("consumer", stats.consumer);
  return text + line_of_all(stats);
}

std::string limiting_stage(const StageStats& fetch, const StageStats& process,
                           const StageStats& consumer) {
  if (consumer.items == 0) return "";
  const double reading = busy_share(fetch);
  const double processing = busy_share(process);
  const double consuming = busy_share(consumer);
  if (consuming >= reading && consuming >= processing) return "consumer";
  return processing >= reading ? "process" : "fetch";
}

}  // namespace fuelrail
