/* LD_PRELOAD library for benchmarks and fault tests; never part of the product.
 *
 * SHIM_FSYNC_DELAY_US=N        every fsync and fdatasync takes N microseconds longer.
 * SHIM_POWER_DIR=DIR           what a power cut would leave of DIR is kept in SHIM_SHADOW_DIR:
 * SHIM_SHADOW_DIR=SHADOW         SHADOW/data/<file id>   bytes of that file at its last fsync
 *                                SHADOW/names/<path>     file id that the name had at its directory's last fsync
 *
 * The strictest reading of POSIX: written bytes last from fsync(file) on, and a created, renamed or removed name
 * from fsync(directory) on. What lies in DIR when the library starts counts as durable. A file id is inode and
 * birth time, so that a reused inode is another file. Not modelled: renamed directories, O_SYNC, AIO, io_uring
 * (libuv leaves it off, SQLite has none). Dirty ranges only save copying: whatever they cover, fsync makes the
 * bytes of that moment durable. A file mapped shared and writable counts as dirty as a whole. */
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FILES = 4096, MAX_RANGES = 4096 };
typedef struct { off_t from, to; } Range;
typedef struct { dev_t dev; ino_t ino; char id[64]; int whole; int count; Range ranges[MAX_RANGES]; } Tracked;

static long delay_us;
static char power_dir[PATH_MAX], shadow_dir[PATH_MAX / 2];
static Tracked *tracked[MAX_FILES];
static int tracked_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_fsync)(int), (*real_fdatasync)(int);

static int inside(const char *path) {
  size_t n = strlen(power_dir);
  return n > 0 && strncmp(path, power_dir, n) == 0 && (path[n] == '/' || path[n] == 0);
}

static void fd_path(int fd, char *out) {
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t n = readlink(link, out, PATH_MAX - 1);
  out[n < 0 ? 0 : n] = 0;
}

static int file_id(int at, const char *path, int flags, char *out) {
  struct statx sx;
  if (statx(at, path, flags, STATX_INO | STATX_BTIME, &sx) != 0) return -1;
  return snprintf(out, 64, "%llu-%lld-%u", (unsigned long long)sx.stx_ino, (long long)sx.stx_btime.tv_sec, sx.stx_btime.tv_nsec);
}

static int shadow_open(const char *id, int flags) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/data/%s", shadow_dir, id);
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC, 0600);
}

static void copy_range(int from, int to, off_t start, off_t end) {
  static char buffer[1 << 16];
  while (start < end) {
    size_t want = (size_t)(end - start) < sizeof buffer ? (size_t)(end - start) : sizeof buffer;
    ssize_t n = pread(from, buffer, want, start);
    if (n <= 0) return;
    real_pwrite(to, buffer, (size_t)n, start);
    start += n;
  }
}

/* ---- which files are watched ------------------------------------------------------------------------------- */

static Tracked *find(int fd) {
  struct stat st;
  if (tracked_count == 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return NULL;
  for (int i = tracked_count - 1; i >= 0; i--)
    if (tracked[i]->ino == st.st_ino && tracked[i]->dev == st.st_dev) return tracked[i];
  return NULL;
}

static void track(int fd, int truncated) {
  struct stat st;
  char path[PATH_MAX], id[64];
  if (fd < 0 || power_dir[0] == 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) return;
  fd_path(fd, path);
  if (!inside(path) || file_id(fd, "", AT_EMPTY_PATH, id) < 0) return;
  pthread_mutex_lock(&lock);
  Tracked *known = find(fd);
  if ((known == NULL || strcmp(known->id, id) != 0) && tracked_count < MAX_FILES) {
    known = calloc(1, sizeof *known);
    known->dev = st.st_dev;
    known->ino = st.st_ino;
    strcpy(known->id, id);
    known->whole = 1; /* until the first fsync: bytes may have come by a road that is not watched */
    tracked[tracked_count++] = known;
  }
  if (known != NULL && truncated) known->whole = 1;
  pthread_mutex_unlock(&lock);
}

static void dirty(int fd, off_t from, off_t length) {
  Tracked *file = find(fd);
  if (file == NULL || file->whole) return;
  if (from < 0 || file->count == MAX_RANGES) { file->whole = 1; return; }
  if (file->count > 0 && file->ranges[file->count - 1].to == from) { file->ranges[file->count - 1].to += length; return; }
  file->ranges[file->count++] = (Range){from, from + length};
}

/* ---- what becomes durable ---------------------------------------------------------------------------------- */

static void persist_file(int fd) {
  struct stat st;
  Tracked *file = find(fd);
  if (file == NULL || fstat(fd, &st) != 0) return;
  char self[64];
  snprintf(self, sizeof self, "/proc/self/fd/%d", fd);
  int from = (int)syscall(SYS_openat, AT_FDCWD, self, O_RDONLY | O_CLOEXEC, 0); /* fd itself may be write-only */
  int to = shadow_open(file->id, O_WRONLY | O_CREAT);
  if (file->whole) copy_range(from, to, 0, st.st_size);
  for (int i = 0; !file->whole && i < file->count; i++) copy_range(from, to, file->ranges[i].from, file->ranges[i].to);
  if (to >= 0 && syscall(SYS_ftruncate, to, st.st_size) != 0) perror("fsync-shim: ftruncate");
  file->count = 0;
  file->whole = file->whole == 2 ? 2 : 0; /* 2: mapped writable, stays dirty */
  close(from);
  close(to);
}

static void write_name(const char *dir, const char *name, const char *id) {
  char path[3 * PATH_MAX], writing[2 * PATH_MAX];
  snprintf(path, sizeof path, "%s/names%s", shadow_dir, dir + strlen(power_dir));
  for (char *p = path + strlen(shadow_dir) + 1; *p; p++)
    if (*p == '/') { *p = 0; mkdir(path, 0700); *p = '/'; }
  mkdir(path, 0700);
  strcat(strcat(path, "/"), name);
  /* whole or not at all: the process may be killed here */
  snprintf(writing, sizeof writing, "%s/writing.%ld", shadow_dir, syscall(SYS_gettid));
  int fd = (int)syscall(SYS_openat, AT_FDCWD, writing, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0 || real_write(fd, id, strlen(id)) < 0) perror("fsync-shim: name");
  close(fd);
  if (syscall(SYS_renameat2, AT_FDCWD, writing, AT_FDCWD, path, 0) != 0) perror("fsync-shim: name");
}

/* names that the directory has no more */
static void forget_gone(const char *dir) {
  char path[2 * PATH_MAX], entry_path[3 * PATH_MAX];
  struct stat st;
  snprintf(path, sizeof path, "%s/names%s", shadow_dir, dir + strlen(power_dir));
  DIR *names = opendir(path);
  if (names == NULL) return;
  for (struct dirent *entry; (entry = readdir(names)) != NULL;) {
    snprintf(entry_path, sizeof entry_path, "%s/%s", dir, entry->d_name);
    if (entry->d_type != DT_REG || lstat(entry_path, &st) == 0) continue;
    snprintf(entry_path, sizeof entry_path, "%s/%s", path, entry->d_name);
    syscall(SYS_unlinkat, AT_FDCWD, entry_path, 0);
  }
  closedir(names);
}

/* recurse: at the start, when also the bytes count as durable */
static void persist_directory(const char *dir, int recurse) {
  DIR *entries = opendir(dir);
  if (entries == NULL) return;
  for (struct dirent *entry; (entry = readdir(entries)) != NULL;) {
    char path[2 * PATH_MAX], id[64];
    snprintf(path, sizeof path, "%s/%s", dir, entry->d_name);
    if (entry->d_type == DT_DIR && recurse && entry->d_name[0] != '.') persist_directory(path, 1);
    if (entry->d_type != DT_REG || file_id(AT_FDCWD, path, AT_SYMLINK_NOFOLLOW, id) < 0) continue;
    write_name(dir, entry->d_name, id);
    if (!recurse) continue;
    struct stat st;
    int from = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0), to = shadow_open(id, O_WRONLY | O_CREAT);
    if (fstat(from, &st) == 0) copy_range(from, to, 0, st.st_size);
    close(from);
    close(to);
  }
  closedir(entries);
  forget_gone(dir);
}

static int synced(int fd, int (*sync)(int)) {
  if (delay_us > 0) {
    struct timespec pause = {delay_us / 1000000, (delay_us % 1000000) * 1000};
    nanosleep(&pause, NULL);
  }
  if (power_dir[0] == 0) return sync(fd);
  pthread_mutex_lock(&lock);
  int result = sync(fd);
  struct stat st;
  if (result == 0 && fstat(fd, &st) == 0) {
    char path[PATH_MAX];
    if (S_ISDIR(st.st_mode)) { fd_path(fd, path); if (inside(path)) persist_directory(path, 0); }
    else persist_file(fd);
  }
  pthread_mutex_unlock(&lock);
  return result;
}

__attribute__((constructor)) static void start(void) {
  real_write = dlsym(RTLD_NEXT, "write");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  const char *delay = getenv("SHIM_FSYNC_DELAY_US"), *power = getenv("SHIM_POWER_DIR"), *shadow = getenv("SHIM_SHADOW_DIR");
  delay_us = delay != NULL ? atol(delay) : 0;
  if (power == NULL || shadow == NULL) return;
  char names[PATH_MAX], data[PATH_MAX];
  snprintf(shadow_dir, sizeof shadow_dir, "%s", shadow);
  snprintf(names, sizeof names, "%s/names", shadow_dir);
  snprintf(data, sizeof data, "%s/data", shadow_dir);
  mkdir(shadow_dir, 0700);
  mkdir(data, 0700);
  if (realpath(power, power_dir) == NULL) power_dir[0] = 0;
  else if (mkdir(names, 0700) == 0) persist_directory(power_dir, 1); /* the first process only, never a child of it */
}

/* ---- the intercepted calls; 64-bit Linux: each *64 name is the same function ---------------------------------- */

int fsync(int fd) { return synced(fd, real_fsync); }
int fdatasync(int fd) { return synced(fd, real_fdatasync); }

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define LOCKED(call, fd, from, length)                          \
  do {                                                          \
    if (power_dir[0] == 0) return call;                         \
    pthread_mutex_lock(&lock);                                  \
    __typeof__(call) done = call;                               \
    if (done >= 0) dirty(fd, from, (off_t)(length));            \
    pthread_mutex_unlock(&lock);                                \
    return done;                                                \
  } while (0)

ssize_t pwrite64(int fd, const void *data, size_t n, off_t at) { LOCKED(real_pwrite(fd, data, n, at), fd, at, done); }
ssize_t pwrite(int fd, const void *data, size_t n, off_t at) { return pwrite64(fd, data, n, at); }
ssize_t pwritev64(int fd, const struct iovec *v, int n, off_t at) { LOCKED(REAL(pwritev64)(fd, v, n, at), fd, at, done); }
ssize_t pwritev(int fd, const struct iovec *v, int n, off_t at) { return pwritev64(fd, v, n, at); }
ssize_t write(int fd, const void *data, size_t n) {
  if (real_write == NULL) return syscall(SYS_write, fd, data, n);
  LOCKED(real_write(fd, data, n), fd, -1, 0);
}
ssize_t writev(int fd, const struct iovec *v, int n) { LOCKED(REAL(writev)(fd, v, n), fd, -1, 0); }
int ftruncate64(int fd, off_t size) { LOCKED(REAL(ftruncate64)(fd, size), fd, -1, 0); }
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }
int fallocate64(int fd, int mode, off_t at, off_t n) { LOCKED(REAL(fallocate64)(fd, mode, at, n), fd, -1, 0); }
int fallocate(int fd, int mode, off_t at, off_t n) { return fallocate64(fd, mode, at, n); }
int posix_fallocate64(int fd, off_t at, off_t n) { LOCKED(REAL(posix_fallocate64)(fd, at, n), fd, -1, 0); }
int posix_fallocate(int fd, off_t at, off_t n) { return posix_fallocate64(fd, at, n); }
ssize_t copy_file_range(int from, off_t *a, int to, off_t *b, size_t n, unsigned flags) {
  LOCKED(REAL(copy_file_range)(from, a, to, b, n, flags), to, -1, 0);
}
ssize_t sendfile64(int to, int from, off_t *at, size_t n) {
  ssize_t (*real)(int, int, off_t *, size_t) = dlsym(RTLD_NEXT, "sendfile64");
  LOCKED(real(to, from, at, n), to, -1, 0);
}
ssize_t sendfile(int to, int from, off_t *at, size_t n) { return sendfile64(to, from, at, n); }

void *mmap64(void *near, size_t n, int prot, int flags, int fd, off_t at) {
  if (power_dir[0] != 0 && fd >= 0 && (flags & MAP_SHARED) && (prot & PROT_WRITE)) {
    pthread_mutex_lock(&lock);
    Tracked *file = find(fd);
    if (file != NULL) file->whole = 2;
    pthread_mutex_unlock(&lock);
  }
  return (void *)syscall(SYS_mmap, near, n, prot, flags, fd, at);
}
void *mmap(void *near, size_t n, int prot, int flags, int fd, off_t at) { return mmap64(near, n, prot, flags, fd, at); }

#define MODE(flags, last) ({ mode_t mode = 0; if ((flags) & (O_CREAT | O_TMPFILE)) { va_list args; va_start(args, last); mode = va_arg(args, mode_t); va_end(args); } mode; })

int openat64(int at, const char *path, int flags, ...) {
  int fd = (int)syscall(SYS_openat, at, path, flags, MODE(flags, flags));
  track(fd, flags & O_TRUNC);
  return fd;
}
int openat(int at, const char *path, int flags, ...) { return openat64(at, path, flags, MODE(flags, flags)); }
int open64(const char *path, int flags, ...) { return openat64(AT_FDCWD, path, flags, MODE(flags, flags)); }
int open(const char *path, int flags, ...) { return openat64(AT_FDCWD, path, flags, MODE(flags, flags)); }
