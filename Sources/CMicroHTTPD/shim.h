#ifndef VAULT_CMICROHTTPD_H
#define VAULT_CMICROHTTPD_H

// Without _GNU_SOURCE: the members of fd_set would have other names than in the C library's module,
// and no Swift file could import both.

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

// A descriptor that is readable once `vault_wake` was called. -1 with errno.
static inline int vault_wake_open(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

static inline void vault_wake(int wake) { eventfd_write(wake, 1); }

// Not readable any more, until the next `vault_wake`.
static inline void vault_wake_clear(int wake) {
  eventfd_t count;
  eventfd_read(wake, &count);
}

// Ends both ways of a connection; the descriptor stays.
static inline void vault_cut(int connection) { shutdown(connection, SHUT_RDWR); }

// What poll(2) is asked for to learn that the other side writes no more.
enum { VAULT_HANGUP = 0x2000 };  // POLLRDHUP, poll(2)

// Whether the other side writes no more and all that it wrote was read.
static inline int vault_has_ended(int connection) {
  char byte;
  ssize_t left = recv(connection, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
  return left == 0 || (left < 0 && errno != EAGAIN && errno != EINTR);
}

// What a daemon is started with. `owner` is handed to every callback and must outlive the daemon.
struct vault_listener {
  int ipv6;
  uint16_t port;  // 0 for any
  unsigned int connections;
  unsigned int connections_per_address;
  size_t connection_memory;   // bytes for the head of a request and of its answer
  unsigned int idle_seconds;
  void *owner;
  MHD_AccessHandlerCallback answer;
  void *(*begin)(void *owner, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback end;
  MHD_NotifyConnectionCallback connection;
};

// libmicrohttpd calls it where its own state contradicts itself: nothing can be trusted any more.
static inline void vault_listener_panic(void *unused, const char *file, unsigned int line,
                                        const char *reason) {
  (void)unused;
  fprintf(stderr, "vault: error: libmicrohttpd gave up: %s (%s:%u)\n",
          reason != NULL ? reason : "no reason told", file != NULL ? file : "?", line);
  abort();
}

// Starts a daemon that the caller drives with MHD_run. It listens on the loopback address and on no
// other. NULL, with `*error` an errno, where it cannot; nothing is left open then.
static inline struct MHD_Daemon *vault_listener_start(const struct vault_listener *listener,
                                                      int *error) {
  struct sockaddr_in v4;
  struct sockaddr_in6 v6;
  memset(&v4, 0, sizeof v4);
  memset(&v6, 0, sizeof v6);
  v4.sin_family = AF_INET;
  v4.sin_port = htons(listener->port);
  v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(listener->port);
  v6.sin6_addr = in6addr_loopback;
  const struct sockaddr *address =
      listener->ipv6 ? (const struct sockaddr *)&v6 : (const struct sockaddr *)&v4;
  MHD_set_panic_func(vault_listener_panic, NULL);
  errno = 0;
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | (listener->ipv6 ? MHD_USE_IPv6 : 0),
      listener->port, NULL, NULL, listener->answer, listener->owner,
      MHD_OPTION_SOCK_ADDR, address,
      MHD_OPTION_CONNECTION_LIMIT, listener->connections,
      MHD_OPTION_PER_IP_CONNECTION_LIMIT, listener->connections_per_address,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, listener->connection_memory,
      MHD_OPTION_CONNECTION_TIMEOUT, listener->idle_seconds,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, listener->begin, listener->owner,
      MHD_OPTION_NOTIFY_COMPLETED, listener->end, listener->owner,
      MHD_OPTION_NOTIFY_CONNECTION, listener->connection, listener->owner,
      MHD_OPTION_END);
  *error = daemon != NULL ? 0 : errno != 0 ? errno : ENOMEM;
  return daemon;
}

// The descriptor that is readable when MHD_run has something to do; -1 for none.
static inline int vault_listener_events(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
  return info != NULL ? info->epoll_fd : -1;
}

static inline uint16_t vault_listener_port(struct MHD_Daemon *daemon) {
  const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_BIND_PORT);
  return info != NULL ? info->port : 0;
}

// The connection's own descriptor; -1 for none.
static inline int vault_connection_socket(struct MHD_Connection *connection) {
  const union MHD_ConnectionInfo *info =
      MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
  return info != NULL ? info->connect_fd : -1;
}

// Counts the time without a byte from now on: what a service waited for is not the client's silence.
static inline void vault_connection_touch(struct MHD_Connection *connection, unsigned int seconds) {
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
  MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

// What a daemon with a thread for each connection is started with; connections are handed to it with
// `vault_serve`. `owner` is handed to every callback and must outlive the daemon.
struct vault_service {
  unsigned int connections;
  size_t connection_memory;
  unsigned int idle_seconds;
  size_t thread_stack;
  void *owner;
  MHD_AccessHandlerCallback answer;
  void *(*begin)(void *owner, const char *target, struct MHD_Connection *connection);
  MHD_RequestCompletedCallback end;
  MHD_NotifyConnectionCallback connection;
};

// NULL, with `*error` an errno, where it cannot.
static inline struct MHD_Daemon *vault_service_start(const struct vault_service *service,
                                                     int *error) {
  MHD_set_panic_func(vault_listener_panic, NULL);
  errno = 0;
  struct MHD_Daemon *daemon = MHD_start_daemon(
      MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
          MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC,
      0, NULL, NULL, service->answer, service->owner,
      MHD_OPTION_CONNECTION_LIMIT, service->connections,
      MHD_OPTION_CONNECTION_MEMORY_LIMIT, service->connection_memory,
      MHD_OPTION_CONNECTION_TIMEOUT, service->idle_seconds,
      MHD_OPTION_THREAD_STACK_SIZE, service->thread_stack,
      MHD_OPTION_STRICT_FOR_CLIENT, 1,
      MHD_OPTION_URI_LOG_CALLBACK, service->begin, service->owner,
      MHD_OPTION_NOTIFY_COMPLETED, service->end, service->owner,
      MHD_OPTION_NOTIFY_CONNECTION, service->connection, service->owner,
      MHD_OPTION_END);
  *error = daemon != NULL ? 0 : errno != 0 ? errno : ENOMEM;
  return daemon;
}

// Accepts a connection; -1 with errno.
static inline int vault_accept(int listener) {
  int connection = accept(listener, NULL, NULL);
  if (connection >= 0) fcntl(connection, F_SETFD, FD_CLOEXEC);
  return connection;
}

// Who connected, as the kernel saw it then (SO_PEERCRED). 0, or -1 with errno.
static inline int vault_peer(int connection, uint32_t *user, uint32_t *group, int32_t *process) {
  struct {  // struct ucred, unix(7)
    pid_t pid;
    uid_t uid;
    gid_t gid;
  } peer;
  socklen_t length = sizeof peer;
  if (getsockopt(connection, SOL_SOCKET, SO_PEERCRED, &peer, &length) != 0) return -1;
  *user = peer.uid;
  *group = peer.gid;
  *process = peer.pid;
  return 0;
}

// Hands an accepted connection over; the daemon closes it, even where this fails. 0 or an errno.
static inline int vault_serve(struct MHD_Daemon *daemon, int connection) {
  struct sockaddr address;
  memset(&address, 0, sizeof address);
  address.sa_family = AF_UNIX;
  errno = 0;
  if (MHD_add_connection(daemon, connection, &address, sizeof address) == MHD_YES) return 0;
  return errno != 0 ? errno : EIO;
}

#endif
