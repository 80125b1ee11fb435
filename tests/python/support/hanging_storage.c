// Simulates storage that hangs, when loaded before libc (LD_PRELOAD). While the file HANGING_GATE
// exists, calls that open, read, write or stat a file whose path contains HANGING_PATH wait and
// ignore signals, as they do in the kernel if a file server is gone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

static int hangs(const char* path) {
  const char* part = getenv("HANGING_PATH");
  const char* gate = getenv("HANGING_GATE");
  return part && gate && path && strstr(path, part) && access(gate, F_OK) == 0;
}

static int fd_hangs(int fd) {
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return 0;
  path[length] = '\0';
  return hangs(path);
}

static void wait_for(const char* path) {
  const struct timespec pause = {0, 5000000};
  while (hangs(path)) nanosleep(&pause, NULL);
}

static void wait_for_fd(int fd) {
  const struct timespec pause = {0, 5000000};
  while (fd_hangs(fd)) nanosleep(&pause, NULL);
}

ssize_t pread(int fd, void* into, size_t bytes, off_t offset) {
  wait_for_fd(fd);
  return REAL(pread)(fd, into, bytes, offset);
}

ssize_t preadv(int fd, const struct iovec* into, int count, off_t offset) {
  wait_for_fd(fd);
  return REAL(preadv)(fd, into, count, offset);
}

// Files that hang are not cached.
ssize_t preadv2(int fd, const struct iovec* into, int count, off_t offset, int flags) {
  if ((flags & RWF_NOWAIT) && fd_hangs(fd)) {
    errno = EAGAIN;
    return -1;
  }
  wait_for_fd(fd);
  return REAL(preadv2)(fd, into, count, offset, flags);
}

ssize_t write(int fd, const void* from, size_t bytes) {
  wait_for_fd(fd);
  return REAL(write)(fd, from, bytes);
}

int fsync(int fd) {
  wait_for_fd(fd);
  return REAL(fsync)(fd);
}

int fdatasync(int fd) {
  wait_for_fd(fd);
  return REAL(fdatasync)(fd);
}

int stat(const char* path, struct stat* into) {
  wait_for(path);
  return REAL(stat)(path, into);
}

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const int mode = va_arg(more, int);
  va_end(more);
  wait_for(path);
  return REAL(open)(path, flags, mode);
}
