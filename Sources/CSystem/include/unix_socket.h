#ifndef VAULT_UNIX_SOCKET_H
#define VAULT_UNIX_SOCKET_H
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The longest path of a Unix socket, in bytes without the NUL.
int vault_unix_path_limit(void);

// Connects to the socket at `path`. A descriptor, closed on exec; or -1 with errno. Connecting, and
// each later write, waits at most `milliseconds` for the server (0: without end); EAGAIN then.
int vault_unix_connect(const char *path, int64_t milliseconds);

// Binds a socket at `path`, whose file is made with the permission bits `mode` and no others, from
// its first moment on, and listens. A descriptor, closed on exec; or -1 with errno. The process must
// not make files in another thread meanwhile: the umask is the process's.
int vault_unix_listen(const char *path, uint32_t mode, int backlog);

// Who connected, as the kernel saw it then (SO_PEERCRED). 0, or -1 with errno.
int vault_unix_peer(int descriptor, uint32_t *user, uint32_t *group, int32_t *process);

// Reads at most `capacity` bytes and waits for the first of them `milliseconds` (-1: without end).
// The number, 0 at the end; or -1 with errno, ETIMEDOUT among it.
ssize_t vault_socket_read(int descriptor, uint8_t *buffer, size_t capacity, int64_t milliseconds);

// Whether nothing has come and the other side has not hung up. It does not wait.
int vault_socket_is_quiet(int descriptor);

// Ends a connection for both sides: calls that wait on it return. The descriptor stays open.
void vault_socket_cut(int descriptor);

// Writes all without SIGPIPE. 0, or an errno; ETIMEDOUT where the connection's time was over.
int vault_socket_write(int descriptor, const uint8_t *bytes, size_t count);

// The present errno.
int vault_errno(void);

// Overwrites, and is not optimised away.
void vault_wipe(void *bytes, size_t count);
#endif
