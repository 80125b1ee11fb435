// Stills in MP4 files, decoded by the plugin for H.265 (FUELRAIL_HEVC) in a process of its own: its
// libraries are not fuelrail's and not sanitized. If that process crashes, hangs or finds a broken
// promise, this one ends, so that libFuzzer keeps the input. Without the plugin nothing is decoded.
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <vector>

#include "fuelrail/base/hevc_library.h"
#include "fuelrail/mp4/nested_image.h"
#include "image_fuzzing.h"

namespace {

using namespace fuelrail;
using fuzzing::require;

constexpr int kMostSeconds = 15;  // for one input, which takes milliseconds

// Returns: false if the other process has ended.
bool read_fully(int from, void* into, size_t bytes) {
  return ::recv(from, into, bytes, MSG_WAITALL) == static_cast<ssize_t>(bytes);
}
bool write_fully(int to, const void* bytes, size_t count) {
  return ::send(to, bytes, count, MSG_NOSIGNAL) == static_cast<ssize_t>(count);
}

// Decodes each input that it is sent, and answers with one byte.
[[noreturn]] void decode_until_closed(int from) {
  const char* const named = std::getenv("FUELRAIL_HEVC");
  if (named != nullptr && *named != '\0') {
    require(fuzzing::succeeds([] { hevc_library(); }), "the plugin that is named can be opened");
  }
  uint32_t size = 0;
  while (read_fully(from, &size, sizeof size)) {
    std::vector<std::byte> input(size);
    if (!read_fully(from, input.data(), size)) break;
    fuzzing::check_image(input, &kMp4Format);
    if (!write_fully(from, "", 1)) break;
  }
  ::_exit(0);
}

// The process that decodes.
class Decoding {
 public:
  // Requires: this process has no threads yet.
  Decoding() {
    int ends[2];
    require(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "there is a socket");
    process_ = ::fork();
    require(process_ >= 0, "there is a process");
    if (process_ == 0) {
      ::close(ends[0]);
      decode_until_closed(ends[1]);
    }
    ::close(ends[1]);
    socket_ = ends[0];
  }
  ~Decoding() {
    ::close(socket_);
    ::waitpid(process_, nullptr, 0);
  }
  Decoding& operator=(Decoding&&) = delete;

  void decode(Bytes input) {
    const auto size = static_cast<uint32_t>(input.size());
    char answer = 1;
    pollfd answered{.fd = socket_, .events = POLLIN, .revents = 0};
    const bool sent = write_fully(socket_, &size, sizeof size) &&
                      write_fully(socket_, input.data(), input.size());
    const bool in_time = !sent || ::poll(&answered, 1, 1000 * kMostSeconds) != 0;
    if (!in_time) ::kill(process_, SIGKILL);
    require(in_time, "decoding an image does not hang");
    require(sent && read_fully(socket_, &answer, 1), "decoding an image does not crash");
  }

 private:
  pid_t process_ = -1;
  int socket_ = -1;
};

std::optional<Decoding> decoding;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  decoding.emplace();
  return 0;
}

// libFuzzer's own mutation of some bytes.
extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

// Mostly changes only the bitstream or the parameter sets, in their place: few files whose boxes
// have changed are decoded.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int seed) {
  const Bytes file = fuzzing::as_bytes(data, size);
  ImageCodec codec;
  EncodedImage image(file);
  const bool has_still =
      fuzzing::succeeds([&] { image = mp4::read_nested_image(file, codec); }) && seed % 8 != 0;
  if (!has_still) return LLVMFuzzerMutate(data, size, max_size);
  const Bytes part = seed % 8 == 1 ? codec.parameters : image.bytes;
  LLVMFuzzerMutate(data + (part.data() - file.data()), part.size(), part.size());
  return size;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const Bytes file = fuzzing::as_bytes(data, size);
  constexpr int kNotKept = -1;  // libFuzzer goes on from files that are decoded, not from others
  ImageInfo info;
  if (!fuzzing::succeeds([&] { info = probe(file, fuzzing::kMaxPixels); })) return kNotKept;
  if (info.format != &kMp4Format) return kNotKept;
  decoding->decode(file);
  return 0;
}
