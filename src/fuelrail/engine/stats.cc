#include "fuelrail/engine/stats.h"

namespace fuelrail {
namespace {

double utilisation(const StageStats& stage) {
  const double total = stage.busy_seconds + stage.waiting_seconds;
  return total > 0 ? stage.busy_seconds / total : 0;
}

}  // namespace

std::string limiting_stage(const StageStats& fetch, const StageStats& process,
                           const StageStats& deliver) {
  if (deliver.items == 0) return "";
  const double reading = utilisation(fetch);
  const double processing = utilisation(process);
  const double consuming = utilisation(deliver);
  if (consuming >= reading && consuming >= processing) return "consumer";
  return processing >= reading ? "process" : "fetch";
}

}  // namespace fuelrail
