/* LD_PRELOAD library for fault tests; never part of the product.
 *
 * SHIM_DISK_DIR=DIR    the disk that fails
 * SHIM_DISK_FLAG=FILE  while FILE.full exists, whatever would write below DIR fails with ENOSPC, while FILE.read-only
 *                      exists with EROFS. Reading goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static int below(const char *path) {
  const char *dir = getenv("SHIM_DISK_DIR");
  size_t n = dir ? strlen(dir) : 0;
  return n > 0 && path && strncmp(path, dir, n) == 0 && (path[n] == '/' || path[n] == 0);
}

/* The errno that the disk answers with now; 0 while it is well. */
static int fault(void) {
  const char *flag = getenv("SHIM_DISK_FLAG");
  if (!flag) return 0;
  char name[PATH_MAX];
  snprintf(name, sizeof name, "%s.full", flag);
  if (access(name, F_OK) == 0) return ENOSPC;
  snprintf(name, sizeof name, "%s.read-only", flag);
  return access(name, F_OK) == 0 ? EROFS : 0;
}

static int refuses_fd(int fd) {
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, path, sizeof path - 1);
  path[n < 0 ? 0 : n] = 0;
  int saved = errno, error = below(path) ? fault() : 0;
  errno = error ? error : saved;
  return error != 0;
}

static int refuses_path(const char *path) {
  int saved = errno, error = below(path) ? fault() : 0;
  errno = error ? error : saved;
  return error != 0;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define ON_FD(result, name, params, args) \
  result name params { return refuses_fd(fd) ? -1 : REAL(name) args; }
#define ON_PATH(name, params, args) \
  int name params { return refuses_path(path) ? -1 : REAL(name) args; }

ON_FD(ssize_t, write, (int fd, const void *data, size_t n), (fd, data, n))
ON_FD(ssize_t, writev, (int fd, const struct iovec *data, int n), (fd, data, n))
ON_FD(ssize_t, pwrite, (int fd, const void *data, size_t n, off_t at), (fd, data, n, at))
ON_FD(ssize_t, pwrite64, (int fd, const void *data, size_t n, off64_t at), (fd, data, n, at))
ON_FD(ssize_t, pwritev, (int fd, const struct iovec *data, int n, off_t at), (fd, data, n, at))
ON_FD(ssize_t, pwritev64, (int fd, const struct iovec *data, int n, off64_t at), (fd, data, n, at))
ON_FD(int, ftruncate, (int fd, off_t n), (fd, n))
ON_FD(int, ftruncate64, (int fd, off64_t n), (fd, n))
ON_FD(int, posix_fallocate, (int fd, off_t at, off_t n), (fd, at, n))
ON_FD(int, posix_fallocate64, (int fd, off64_t at, off64_t n), (fd, at, n))
ON_PATH(unlink, (const char *path), (path))
ON_PATH(mkdir, (const char *path, mode_t mode), (path, mode))
ON_PATH(rename, (const char *path, const char *to), (path, to))

#define OPENS(name) \
  int name(const char *path, int flags, ...) { \
    va_list rest; va_start(rest, flags); mode_t mode = va_arg(rest, mode_t); va_end(rest); \
    if ((flags & (O_CREAT | O_TRUNC)) && access(path, F_OK) != 0 && refuses_path(path)) return -1; \
    return REAL(name)(path, flags, mode); \
  }
OPENS(open)
OPENS(open64)
