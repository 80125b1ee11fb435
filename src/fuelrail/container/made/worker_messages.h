// The messages between a pool and its workers. Both ends are the same build of fuelrail, on one
// machine, so they are structs. Each message is one packet of a socket of the kind SOCK_SEQPACKET.
//
//   worker                       pool
//     ready or refusal     ->
//                          <-    request, maybe with the descriptor of the slot's memory
//     record or failure    ->
//
// The pool ends a worker by closing the socket.
#pragma once

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace fuelrail::made {

// The descriptors that a worker's program inherits.
inline constexpr int kWorkerSocket = 3;
inline constexpr int kWorkerGreeting = 4;

inline constexpr size_t kMaxTextBytes = 32 << 10;  // of a packet; longer texts are cut

struct Request {
  uint64_t record = 0;
  uint64_t slot = 0;  // the number of the memory for the record, counted for each worker
};

enum class ReplyKind : uint32_t {
  kReady,    // the worker has started
  kRefusal,  // it cannot make any record; a text follows
  kRecord,   // the record is in the slot
  kFailure,  // the record cannot be made; a text follows
};

// The class of the error of kFailure.
enum class FailureKind : uint32_t {
  kCorrupt,
  kNotFound,
  kIo,
  kTruncated,
  kOutOfMemory,
  kUnsupported,
};
inline constexpr uint32_t kFailureKinds = 6;

struct Reply {
  ReplyKind kind = ReplyKind::kReady;
  FailureKind failure = FailureKind::kCorrupt;
  uint64_t bytes = 0;  // of the record
};

// Room for one descriptor in the ancillary data of a packet.
union OneDescriptor {
  cmsghdr aligned;
  char room[CMSG_SPACE(sizeof(int))];
};

// Sends a packet; `descriptor`: -1 = none. Returns: false if the other end has closed the socket,
// or the packet cannot be sent.
inline bool send_packet(int socket, std::string_view packet, int descriptor = -1) {
  iovec part{.iov_base = const_cast<char*>(packet.data()), .iov_len = packet.size()};
  OneDescriptor passed{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (descriptor >= 0) {
    message.msg_control = passed.room;
    message.msg_controllen = sizeof passed.room;
    cmsghdr* const header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
  }
  ssize_t sent = 0;
  do {
    sent = ::sendmsg(socket, &message, MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

struct Packet {
  std::string bytes;    // empty: the other end has closed the socket
  int descriptor = -1;  // owned by the receiver
};

// Waits for a packet.
inline Packet receive_packet(int socket) {
  Packet packet{.bytes = std::string(kMaxTextBytes + sizeof(Reply), '\0')};
  iovec part{.iov_base = packet.bytes.data(), .iov_len = packet.bytes.size()};
  OneDescriptor passed{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = passed.room;
  message.msg_controllen = sizeof passed.room;
  ssize_t got = 0;
  do {
    got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  packet.bytes.resize(got < 0 ? 0 : static_cast<size_t>(got));
  if (const cmsghdr* const header = CMSG_FIRSTHDR(&message);
      got > 0 && header != nullptr && header->cmsg_type == SCM_RIGHTS) {
    std::memcpy(&packet.descriptor, CMSG_DATA(header), sizeof packet.descriptor);
  }
  return packet;
}

template <typename Message>
std::string packet_of(const Message& message, std::string_view text = {}) {
  static_assert(std::is_trivially_copyable_v<Message>);
  std::string packet(sizeof message, '\0');
  std::memcpy(packet.data(), &message, sizeof message);
  return packet.append(text.substr(0, kMaxTextBytes));
}

// Returns: false if the packet is too short. `text`: what follows the message.
template <typename Message>
bool read_message(const Packet& packet, Message& message, std::string* text = nullptr) {
  if (packet.bytes.size() < sizeof message) return false;
  std::memcpy(&message, packet.bytes.data(), sizeof message);
  if (text != nullptr) *text = packet.bytes.substr(sizeof message);
  return true;
}

}  // namespace fuelrail::made
