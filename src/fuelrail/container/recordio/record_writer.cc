#include "fuelrail/container/recordio/record_writer.h"

#include <array>

#include "fuelrail/container/recordio/framing.h"
#include "fuelrail/container/sidecar/sidecar_store.h"
#include "fuelrail/storage/file_system.h"

namespace fuelrail::recordio {
namespace {

constexpr size_t kCopyBytes = size_t{64} << 10;  // larger payloads are written where they are

}  // namespace

uint64_t RecordWriter::append(Bytes payload) {
  const uint64_t offset = sink_.position();
  if (payload.size() > kCopyBytes) {
    append_uncopied(payload);
    return offset;
  }
  framed_.clear();
  const size_t parts = append_framed(payload, framed_);
  sink_.write(framed_);
  escapes_ += parts - 1;
  return offset;
}

void RecordWriter::append_uncopied(Bytes payload) {
  static constexpr std::array<std::byte, 3> kZeros{};
  PartSplitter splitter(payload);
  uint64_t parts = 0;
  while (const auto part = splitter.next()) {
    std::array<std::byte, kHeadBytes> head;
    part->head.store(head.data());
    sink_.write(head);
    sink_.write(part->data);
    sink_.write(Bytes(kZeros).first(part->head.padded_length() - part->head.length()));
    ++parts;
  }
  escapes_ += parts - 1;
}

// Does the slow steps before the first rename, so that a kill between the two renames is unlikely.
void commit_record_file(Sink& records, Sink* index) {
  records.sync();
  if (index == nullptr) {
    records.commit();
    return remove_foreign_sidecar(records.uri());
  }
  index->sync();
  FileSystem& files = file_system_for(index->uri());
  const std::string old = index->uri() + ".old.partial";
  if (files.stat(index->uri())) files.rename(index->uri(), old);
  records.commit();
  remove_foreign_sidecar(records.uri());
  index->commit();
  files.remove(old);
}

}  // namespace fuelrail::recordio
