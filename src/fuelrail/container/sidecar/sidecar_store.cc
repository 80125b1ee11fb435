#include "fuelrail/container/sidecar/sidecar_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

#include "fuelrail/base/crc32.h"
#include "fuelrail/storage/memory/memory_file_system.h"
#include "fuelrail/storage/memory/memory_sink.h"
#include "fuelrail/storage/read_batch.h"

namespace fuelrail {
namespace {

constexpr uint64_t kDataHeadBytes = uint64_t{64} << 10;  // fits a .ffr table of 5,000 records
constexpr size_t kMaxCacheStemBytes = 100;
constexpr int kMaxAttempts = 8;  // to publish in one place while other processes write there

// One canonical path for all names of a local file; a URI of another store unchanged.
std::string absolute_path(const std::string& uri) {
  constexpr std::string_view kFileScheme = "file://";
  std::string path = uri;
  if (path.starts_with(kFileScheme)) path.erase(0, kFileScheme.size());
  if (path.find("://") != std::string::npos) return path;
  std::error_code error;
  const std::filesystem::path canonical = std::filesystem::weakly_canonical(path, error);
  return error ? path : canonical.string();
}

// The name contains a hash of the path and the identity, so a changed file, or a different file at
// the same path, gets a different name.
std::string cache_name(const std::string& data_uri, const FileIdentity& identity) {
  return fmt::format("{}-{:08x}-{:x}-{:08x}{:08x}.frx",
                     base_name(data_uri).substr(0, kMaxCacheStemBytes),
                     crc32(as_bytes(absolute_path(data_uri))), identity.size_bytes,
                     identity.first_crc, identity.last_crc);
}

void check_identity(const Sidecar& sidecar, const FileIdentity& identity,
                    const std::string& data_uri) {
  if (sidecar.identity() == identity) return;
  const bool sizes_differ = sidecar.identity().size_bytes != identity.size_bytes;
  throw CorruptError(
      fmt::format("the sidecar does not belong to {}", data_uri),
      {.path = sidecar.uri(),
       .expected = sizes_differ ? fmt::format("a file of {} bytes", sidecar.identity().size_bytes)
                                : "a file whose first and last 4 KiB match the sidecar",
       .found = sizes_differ ? fmt::format("a file of {} bytes", identity.size_bytes) : "",
       .remedy = "Move the sidecar away and build a new one with 'fuelrail index'"});
}

// The sidecar of this name if it belongs to the file; null if it is damaged.
std::shared_ptr<const Sidecar> own_sidecar(const Source& data, const std::string& uri) {
  FileSystem& files = file_system_for(uri);
  if (!files.stat(uri)) return nullptr;
  try {
    std::shared_ptr<const Sidecar> sidecar = Sidecar::open(files.open(uri));
    return sidecar->identity() == identify(data) ? sidecar : nullptr;
  } catch (const IoError&) {
    throw;
  } catch (const Error&) {
    return nullptr;
  }
}

// Whether `X.frx.next` belongs to a file that is still named X.partial. That file may have the same
// size and the same ends as X.
bool is_pending(const std::string& data_uri, const Sidecar& next) {
  const std::string partial = data_uri + ".partial";
  FileSystem& files = file_system_for(partial);
  try {
    return files.stat(partial) && identify(*files.open(partial)) == next.identity();
  } catch (const Error&) {
    return false;  // it was renamed meanwhile
  }
}

}  // namespace

const char* name_of(SidecarPlace place) {
  switch (place) {
    case SidecarPlace::kBeside:
      return "beside";
    case SidecarPlace::kCache:
      return "cache";
    case SidecarPlace::kMemory:
      return "memory";
  }
  return "";
}

StoredSidecar sidecar_in_memory(const SidecarWriter& writer, const FileIdentity& identity) {
  MemorySink memory("the sidecar in memory");
  writer.write_to(identity, memory);
  return {Sidecar::open(memory_source(memory.uri(), memory.take())), {SidecarPlace::kMemory, ""}};
}

std::string sidecar_uri(const std::string& data_uri) { return data_uri + ".frx"; }

std::string next_uri(const std::string& uri) { return uri + ".next"; }

bool is_next_in_use(const Source& data) {
  const auto next = own_sidecar(data, next_uri(sidecar_uri(data.uri())));
  return next && !is_pending(data.uri(), *next);
}

void check_still_named(const Source& data, Replaced replaced) {
  if (replaced == Replaced::kIgnored || data.is_still_named()) return;
  throw ReplacedError("the file was replaced while it was being opened",
                      {.path = data.uri(), .remedy = "Open the file again"});
}

void remove_foreign_sidecar(const std::string& data_uri) {
  const std::string beside = sidecar_uri(data_uri);
  for (const std::string& uri : {beside, next_uri(beside)}) {
    try {
      FileSystem& files = file_system_for(uri);
      const std::optional<FileInfo> info = files.stat(uri);
      if (!info || info->is_directory) continue;
      if (!own_sidecar(*files.open(data_uri), uri)) files.remove(uri);
    } catch (const Error&) {
    }
  }
}

std::optional<uint64_t> records_beside(const Source& data) {
  const std::string uri = sidecar_uri(data.uri());
  for (const std::string& name : {uri, next_uri(uri)}) {
    if (const auto sidecar = own_sidecar(data, name)) return sidecar->records();
  }
  return std::nullopt;
}

std::optional<std::string> sidecar_cache_directory() {
  const char* cache = std::getenv("XDG_CACHE_HOME");
  if (cache != nullptr && cache[0] == '/') return join_uri(cache, "fuelrail");
  const char* home = std::getenv("HOME");
  if (home == nullptr || home[0] != '/') return std::nullopt;
  return join_uri(home, ".cache/fuelrail");
}

SidecarStore::SidecarStore(std::shared_ptr<const Source> data, Warn warn, Replaced replaced,
                           bool ignore_sidecars)
    : data_(std::move(data)),
      data_uri_(data_->uri()),
      warn_(std::move(warn)),
      replaced_(replaced),
      ignore_sidecars_(ignore_sidecars) {
  beside_.location = {SidecarPlace::kBeside, sidecar_uri(data_uri_)};
  read_first();
  if (const auto directory = sidecar_cache_directory()) {
    cache_ = Candidate{};
    cache_->location = {SidecarPlace::kCache,
                        join_uri(*directory, cache_name(data_uri_, identity_))};
  }
}

// Opens the sidecars beside the data file and reads their beginnings together with both ends of the
// data file. `X.frx.next` comes first: if it has been renamed meanwhile, `X.frx` is found
// afterwards. Files that cannot be opened are left for `try_open` to report.
void SidecarStore::read_first() {
  for (const std::string& uri : {next_uri(beside_.location.uri), beside_.location.uri}) {
    if (ignore_sidecars_) break;
    try {
      FileSystem& files = file_system_for(uri);
      if (files.stat(uri)) read_beside_.push_back({uri, files.open(uri)});
    } catch (const Error&) {
    }
  }
  const uint64_t size = data_->size_bytes();
  head_.resize(std::min(size, kDataHeadBytes));
  std::vector<std::byte> last(std::min(size, kIdentityBytes));
  std::vector<ReadRequest> requests{
      {.source = data_.get(), .into = head_},
      {.source = data_.get(), .offset = size - last.size(), .into = last}};
  for (Beside& beside : read_beside_) {
    beside.head.resize(std::min(beside.source->size_bytes(), Sidecar::kHeadReadBytes));
    requests.push_back(
        {.source = beside.source.get(), .into = beside.head, .tag = requests.size()});
  }
  for (const Completion& failed : read_at_once(requests)) {
    if (failed.tag == 0) std::rethrow_exception(failed.error);
    read_beside_[failed.tag - 2].source = nullptr;
  }
  std::erase_if(read_beside_, [](const Beside& beside) { return beside.source == nullptr; });
  identity_ = identity_of_ends(size, Bytes(head_).first(last.size()), last);
}

// Uses the bytes from `read_first` once, even if the name leads to a different file by now. Later
// calls open the file again. Null if the file does not exist.
std::shared_ptr<const Sidecar> SidecarStore::open_sidecar(const std::string& uri) {
  const auto begun = std::ranges::find(read_beside_, uri, &Beside::uri);
  if (begun == read_beside_.end()) {
    FileSystem& files = file_system_for(uri);
    return files.stat(uri) ? Sidecar::open(files.open(uri)) : nullptr;
  }
  Beside beside = std::move(*begun);
  read_beside_.erase(begun);
  return Sidecar::open(std::move(beside.source), std::move(beside.head));
}

// The result of looking beside the file: why X.frx is not used (empty if it does not exist), and
// sidecars with a different identity, which may still belong to this file.
struct SidecarStore::Look {
  std::string refused;
  std::vector<StoredSidecar> others;
};

std::optional<StoredSidecar> SidecarStore::find(const SidecarRules& rules, CutFile cut) {
  if (ignore_sidecars_) return std::nullopt;
  rules_ = rules;
  cut_ = cut;
  std::optional<StoredSidecar> found = find_beside();
  if (!found) found = find_in_cache();
  if (found) found_ = found;
  if (found && !found->sidecar->hints_refusal().empty()) {
    warn("the entry points of the images are not used: " + found->sidecar->hints_refusal());
  }
  replaced_ = Replaced::kIgnored;  // from here on, starting over would lose work
  return found;
}

// An ignored sidecar can be attributed to another file, or to this file before it was damaged, only
// while this file still has its name.
std::optional<StoredSidecar> SidecarStore::find_beside() {
  if (beside_.set_aside) return std::nullopt;
  Look look;
  std::optional<StoredSidecar> found = look_beside(look);
  if (!found) found = look_beside(look);  // the sidecars may have been renamed meanwhile
  check_still_named(*data_, replaced_);
  if (!found && !look.others.empty() && data_->is_still_named()) {
    found = judged(look);
  }
  if (!found && !look.refused.empty()) set_aside(beside_, look.refused);
  return found;
}

// `X.frx.next` comes first: if it has been renamed meanwhile, `X.frx` is found afterwards.
std::optional<StoredSidecar> SidecarStore::look_beside(Look& look) {
  look = {};
  const std::string& uri = beside_.location.uri;
  Look at_next;
  auto next = try_open(next_uri(uri), at_next);
  if (next && !is_pending(data_uri_, *next)) {
    return StoredSidecar{std::move(next), {SidecarPlace::kBeside, next_uri(uri)}};
  }
  if (auto sidecar = try_open(uri, look)) return StoredSidecar{sidecar, beside_.location};
  for (StoredSidecar& other : at_next.others) {
    if (!is_pending(data_uri_, *other.sidecar)) look.others.push_back(std::move(other));
  }
  return std::nullopt;
}

// Of the sidecars with a different identity, returns the one that belongs to this file, which is
// then damaged. Prefers the sidecar of a file of the same size to that of a longer file. Errors:
// TruncatedError.
std::optional<StoredSidecar> SidecarStore::judged(const Look& look) const {
  for (const bool cut : {false, true}) {
    for (const StoredSidecar& other : look.others) {
      const bool longer = other.sidecar->identity().size_bytes > identity_.size_bytes;
      if (longer != cut) continue;
      try {
        rules_.accept(*other.sidecar);  // the other rules require it
      } catch (const Error&) {
        continue;
      }
      if (!belongs(other)) continue;
      if (longer && cut_ == CutFile::kRefused) throw_cut(*other.sidecar);
      return other;
    }
  }
  return std::nullopt;
}

bool SidecarStore::belongs(const StoredSidecar& other) const {
  if (identity_.size_bytes > other.sidecar->identity().size_bytes) return false;
  return rules_.agrees && rules_.agrees(*other.sidecar, other.changed);
}

void SidecarStore::throw_cut(const Sidecar& sidecar) const {
  ErrorDetail detail{
      .path = data_uri_,
      .expected =
          fmt::format("{} bytes, according to {}", sidecar.identity().size_bytes, sidecar.uri()),
      .found = fmt::format("{}", identity_.size_bytes),
      .remedy = fmt::format(
          "Restore the file, or save its readable records to a new file with 'fuelrail "
          "recover IN OUT'; if the file was replaced on purpose, remove {} or ignore it "
          "(sidecar=\"ignore\", --sidecar ignore)",
          sidecar.uri())};
  if (rules_.first_missing) {
    const MissingRecord missing = rules_.first_missing(sidecar);
    detail.record = missing.record;
    detail.offset = missing.offset;
    throw TruncatedError(
        "the file is truncated, so this record and all later ones are missing or incomplete",
        detail);
  }
  throw TruncatedError("the file is truncated", detail);
}

std::optional<StoredSidecar> SidecarStore::find_in_cache() {
  if (!cache_ || cache_->set_aside) return std::nullopt;
  Look look;
  auto sidecar = try_open(cache_->location.uri, look);
  if (!look.refused.empty()) set_aside(*cache_, look.refused);
  if (!sidecar) return std::nullopt;
  return StoredSidecar{std::move(sidecar), cache_->location};
}

// Null if there is no usable sidecar; `look` then holds the reason, if the file exists.
std::shared_ptr<const Sidecar> SidecarStore::try_open(const std::string& uri, Look& look) {
  try {
    const std::shared_ptr<const Sidecar> sidecar = open_sidecar(uri);
    if (sidecar == nullptr) return nullptr;
    if (sidecar->identity() != identity_) {
      StoredSidecar& other = look.others.emplace_back();
      other.sidecar = sidecar;
      other.location = {SidecarPlace::kBeside, uri};
      other.changed = changed_ends(sidecar->identity(), identity_);
    }
    check_identity(*sidecar, identity_, data_uri_);
    rules_.accept(*sidecar);
    return sidecar;
  } catch (const NotFoundError&) {
    return nullptr;  // removed between the two calls
  } catch (const Error& error) {
    look.refused = error.what();
    return nullptr;
  }
}

void SidecarStore::set_aside(Candidate& candidate, const std::string& refused) {
  candidate.set_aside = true;
  const bool beside = candidate.location.place == SidecarPlace::kBeside;
  warn(fmt::format("a sidecar is ignored{}: {}", beside ? " and not overwritten" : "", refused));
}

// The place of this file's sidecar beside it, whether it exists or not.
SidecarLocation SidecarStore::own_beside() const {
  const bool found = found_ && found_->location.place == SidecarPlace::kBeside;
  return found ? found_->location : beside_.location;
}

StoredSidecar SidecarStore::publish(const SidecarWriter& writer) {
  if (ignore_sidecars_) return sidecar_in_memory(writer, identity_);
  std::string refused;
  for (Candidate* candidate : {&beside_, cache_ ? &*cache_ : nullptr}) {
    if (candidate == nullptr) continue;
    try {
      if (auto stored = publish_at(writer, *candidate)) return *stored;
    } catch (const Error& error) {
      refused = error.what();
    }
  }
  warn(
      fmt::format("{}: the sidecar cannot be written beside the file or into the cache directory, "
                  "so the file is scanned each time it is opened. {}",
                  data_uri_, refused));
  return sidecar_in_memory(writer, identity_);
}

// Returns: empty if this place cannot be used. A packer, or another process that opened the file,
// may have written a sidecar first; that one is used, because it may hold more data. Gives up if a
// sidecar keeps appearing and disappearing, or if the name is a dangling link.
std::optional<StoredSidecar> SidecarStore::publish_at(const SidecarWriter& writer,
                                                      Candidate& candidate) {
  const bool beside = candidate.location.place == SidecarPlace::kBeside;
  for (int attempt = 0; attempt < kMaxAttempts; ++attempt) {
    if (auto sidecar = find(rules_, cut_)) return sidecar;
    if (beside && candidate.set_aside) return std::nullopt;
    const std::unique_ptr<Sink> sink = write(writer, candidate.location);
    if (beside && data_has_changed()) return std::nullopt;
    if (candidate.set_aside) {  // in the cache, which holds only fuelrail's files
      sink->commit();
      return made_at(candidate.location);
    }
    if (sink->commit_new()) return made_at(candidate.location);
  }
  return std::nullopt;
}

void SidecarStore::check_replaceable() const {
  if (!beside_.set_aside) return;
  throw CorruptError("the file has the name of the sidecar, but is not a valid sidecar",
                     {.path = beside_.location.uri, .remedy = "Move the file away"});
}

StoredSidecar SidecarStore::replace(const SidecarWriter& writer) {
  check_replaceable();
  const bool beside_must_go = found_ && found_->location.place == SidecarPlace::kBeside;
  try {
    return replace_at(writer, own_beside());
  } catch (const StateError&) {
    throw;
  } catch (const Error&) {
    if (beside_must_go || !cache_) throw;
  }
  return replace_at(writer, cache_->location);
}

StoredSidecar SidecarStore::replace_at(const SidecarWriter& writer,
                                       const SidecarLocation& location) const {
  const std::unique_ptr<Sink> sink = write(writer, location);
  const bool beside = location.place == SidecarPlace::kBeside;
  const std::unique_ptr<Sink> held = beside ? hold_writers_off() : nullptr;
  check_unchanged(location);
  if (location.place == SidecarPlace::kCache || (found_ && found_->location.uri == location.uri)) {
    sink->commit();
  } else if (!sink->commit_new()) {
    throw StateError(
        "the sidecar's path is taken: by one that was written meanwhile, or by a link to nothing",
        {.path = location.uri, .remedy = "Remove such a link, or build the sidecar again"});
  }
  return open_written(location);
}

// Locks the data file against writers until the rename is done. The partial file of a killed writer
// is kept.
std::unique_ptr<Sink> SidecarStore::hold_writers_off() const {
  std::unique_ptr<Sink> held = file_system_for(data_uri_).resume(data_uri_);
  held->leave_partial(held->position() > 0);
  if (held->is_first_writer()) return held;
  throw StateError("the file is being written, so its sidecar cannot be replaced",
                   {.path = data_uri_,
                    .remedy = "Wait until the file is written, then build the sidecar again"});
}

// Errors: StateError unless the data file is still the one that was read, and the sidecar to be
// replaced the one that was found. A packer commits the sidecar before its file, so both are
// checked.
void SidecarStore::check_unchanged(const SidecarLocation& location) const {
  if (data_has_changed()) {
    throw StateError("the file changed while its sidecar was being built",
                     {.path = data_uri_, .remedy = "Build the sidecar again"});
  }
  if (!found_ || found_->location.uri != location.uri) return;
  FileSystem& files = file_system_for(location.uri);
  try {
    const auto now = Sidecar::open(files.open(location.uri));
    if (now->same_contents(*found_->sidecar)) return;
  } catch (const Error&) {  // removed, or not a sidecar: changed in any case
  }
  throw StateError("the sidecar changed while a new one was being built",
                   {.path = location.uri, .remedy = "Build the sidecar again"});
}

bool SidecarStore::data_has_changed() const {
  return identify(*file_system_for(data_uri_).open(data_uri_)) != identity_;
}

// Writes everything except the final name.
std::unique_ptr<Sink> SidecarStore::write(const SidecarWriter& writer,
                                          const SidecarLocation& location) const {
  FileSystem& files = file_system_for(location.uri);
  if (location.place == SidecarPlace::kCache) {
    files.make_directory(location.uri.substr(0, location.uri.rfind('/')));
  }
  std::unique_ptr<Sink> sink = files.create(location.uri);
  writer.write_to(identity_, *sink);
  sink->sync();
  return sink;
}

StoredSidecar SidecarStore::made_at(const SidecarLocation& location) const {
  StoredSidecar stored = open_written(location);
  stored.location.made = true;
  return stored;
}

// Checks the sidecar, because its name may lead to a different file by now.
StoredSidecar SidecarStore::open_written(const SidecarLocation& location) const {
  std::shared_ptr<const Sidecar> sidecar =
      Sidecar::open(file_system_for(location.uri).open(location.uri));
  check_identity(*sidecar, identity_, data_uri_);
  rules_.accept(*sidecar);
  return {std::move(sidecar), location};
}

void SidecarStore::warn(const std::string& message) const {
  if (warn_) warn_(message);
}

}  // namespace fuelrail
