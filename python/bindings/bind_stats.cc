#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "bindings.h"
#include "fuelrail/engine/error_policy.h"
#include "fuelrail/engine/stats.h"
#include "fuelrail/loader/image_counts.h"

namespace fuelrail::python {

static void bind_bad_record(nb::module_& module) {
  nb::class_<BadRecord>(module, "BadRecord", "A bad sample that a loader skipped.")
      .def_ro("index", &BadRecord::record, "Index of the sample in the loader's dataset.")
      .def_ro("epoch", &BadRecord::epoch, "Epoch in which the sample was first skipped.")
      .def_ro("position", &BadRecord::position,
              "Position of the sample among the samples of all ranks in the epoch `epoch`, counted "
              "from 0.")
      .def_ro("times", &BadRecord::times, "Number of times that the sample was skipped.")
      .def_prop_ro(
          "error", [](const BadRecord& self) { return printable(self.error); },
          "Text of the first error that this sample caused. The text names the file and the "
          "record.")
      .def("__repr__", [](const BadRecord& self) {
        return nb::str("BadRecord(index={}, epoch={}, position={}, times={}, error={!r})")
            .format(self.record, self.epoch, self.position, self.times, printable(self.error));
      });
}

static nb::dict as_dict(const StageStats& stage) {
  nb::dict values;
  values["busy_seconds"] = stage.busy_seconds;
  values["waiting_seconds"] = stage.waiting_seconds;
  values["items"] = stage.items;
  values["bytes"] = stage.bytes;
  values["mean_queue_depth"] = stage.mean_queue_depth;
  return values;
}

static nb::dict images_by_way(const Stats& stats) {
  nb::dict images;
  for (size_t i = 0; i < kDecodeWays; ++i) {
    images[nb::str(kDecodeWayNames[i].data(), kDecodeWayNames[i].size())] = stats.counts.others[i];
  }
  return images;
}

static nb::dict as_dict(const Stats& stats) {
  nb::dict values;
  values["seconds"] = stats.seconds;
  values["fetch"] = as_dict(stats.fetch);
  values["process"] = as_dict(stats.process);
  values["consumer"] = as_dict(stats.consumer);
  values["tolerated"] = stats.counts.tolerated;
  values["images"] = images_by_way(stats);
  values["hints_refused"] = stats.counts.others[kHintsRefused];
  values["slots_lent"] = stats.slots_lent;
  values["read_backend"] = stats.read_backend;
  values["reads_at_once"] = stats.reads_at_once;
  values["limit"] = stats.limit;
  return values;
}

void bind_stats(nb::module_& module) {
  bind_bad_record(module);
  nb::class_<StageStats>(module, "StageStats", "Statistics of one stage of a loader.")
      .def_ro("busy_seconds", &StageStats::busy_seconds,
              "Seconds spent working, summed over the stage's threads.")
      .def_ro("waiting_seconds", &StageStats::waiting_seconds,
              "Seconds spent waiting for input, for free memory or for the user's code, summed "
              "over the "
              "stage's threads.")
      .def_ro("items", &StageStats::items,
              "Number of batches for the stage `consumer`; number of records for the other stages.")
      .def_ro("bytes", &StageStats::bytes,
              "For the stage `fetch`, the bytes read from storage. For `process`, the bytes "
              "written to batches. For `consumer`, the bytes of the batches returned.")
      .def_ro("mean_queue_depth", &StageStats::mean_queue_depth,
              "Mean length of the stage's queue, measured each time the stage takes items from the "
              "queue. The queue of `fetch` contains reads in progress, that of `process` records "
              "that were read, and that of `consumer` finished batches.")
      .def(
          "as_dict", [](const StageStats& self) { return as_dict(self); },
          nb::sig("def as_dict(self) -> dict[str, int | float]"),
          "Returns a dict of all attributes.")
      .def("__repr__", [](const StageStats& self) {
        return nb::str(
                   "StageStats(busy_seconds={:.3f}, waiting_seconds={:.3f}, items={}, "
                   "bytes={}, mean_queue_depth={:.2f})")
            .format(self.busy_seconds, self.waiting_seconds, self.items, self.bytes,
                    self.mean_queue_depth);
      });
  nb::class_<Stats>(module, "Stats", "Statistics of a loader since its first batch was requested.")
      .def_ro("seconds", &Stats::seconds, "Seconds since the first batch was requested.")
      .def_ro("fetch", &Stats::fetch, "The stage that reads records.")
      .def_ro("process", &Stats::process, "The stage that decodes and transforms images.")
      .def_ro("consumer", &Stats::consumer, "The user's loop, which takes batches from the loader.")
      .def_prop_ro(
          "tolerated", [](const Stats& self) { return self.counts.tolerated; },
          "Number of ignored defects in image files, such as extra bytes between JPEG markers.")
      .def_prop_ro(
          "images", images_by_way, nb::sig("def images(self) -> dict[str, int]"),
          "Number of images that were decoded, by method. JPEGs: 'indexed' (from the entry "
          "points that 'fuelrail index' stores), 'restart_markers' (from those in the file), "
          "'guessed' (without either), 'libjpeg' (by libjpeg-turbo: progressive, CMYK and other "
          "kinds); 'png' (PNGs, by fuelrail), 'libspng' (interlaced or very large PNGs, crops at "
          "the top, large compressed texts), 'suspect' (JPEGs and PNGs by libjpeg-turbo or "
          "libspng, because the data are not what encoders write), 'other' (all other formats).")
      .def_prop_ro(
          "hints_refused", [](const Stats& self) { return self.counts.others[kHintsRefused]; },
          "Number of JPEGs whose entry points do not fit them, and were not used.")
      .def_ro("slots_lent", &Stats::slots_lent, "Number of batches that the user still references.")
      .def_ro("read_backend", &Stats::read_backend,
              "The method of reading: 'io_uring', 'pread' (with threads) or 'io_uring and pread'. "
              "Empty before the first batch and after `close`.")
      .def_ro(
          "reads_at_once", &Stats::reads_at_once,
          "Current limit on the number of simultaneous reads by the read threads. The limit grows "
          "if storage is slow. It does not apply to io_uring, which has its own limit.")
      .def_ro("limit", &Stats::limit,
              "The bottleneck: 'fetch', 'process' or 'consumer', whichever is busy for the largest "
              "fraction of its time. Empty before the first batch.")
      .def(
          "as_dict", [](const Stats& self) { return as_dict(self); },
          nb::sig("def as_dict(self) -> dict[str, typing.Any]"),
          "Returns a dict of all attributes, for JSON and loggers. Each stage is also a dict.")
      .def("__repr__",
           [](const Stats& self) {
             return nb::str(
                        "Stats(seconds={:.3f}, limit='{}', tolerated={}, images={!r},\n"
                        "      hints_refused={}, slots_lent={},\n"
                        "      read_backend='{}', reads_at_once={},\n"
                        "      fetch={!r},\n      process={!r},\n      consumer={!r})")
                 .format(self.seconds, self.limit, self.counts.tolerated, images_by_way(self),
                         self.counts.others[kHintsRefused], self.slots_lent, self.read_backend,
                         self.reads_at_once, self.fetch, self.process, self.consumer);
           })
      .def(
          "__str__", [](const Stats& self) { return table_with_images(self); },
          "Returns a table with a line for each stage, one of totals and, after the first image, "
          "one of `images`.")
      .def(
          "_repr_html_",
          [](const Stats& self) { return "<pre>" + table_with_images(self) + "</pre>"; },
          "Returns the table of `str` as HTML, for notebooks.");
}

}  // namespace fuelrail::python
