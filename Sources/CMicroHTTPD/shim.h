#pragma once
#include <microhttpd.h>
/* Not part of Swift's Glibc. */
#include <malloc.h>
#include <sys/eventfd.h>

/* Swift cannot call variadic functions: these fix the arguments that the product uses. */

/* What the daemon calls, each with the same context. */
struct wsbridge_callbacks
{
    MHD_AccessHandlerCallback answer;
    void *(*target_read)(void *context, const char *target, struct MHD_Connection *connection);
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection_changed;
    MHD_AcceptPolicyCallback may_accept;
    MHD_LogCallback log;
    void *context;
};

/* A daemon in external epoll mode on a listening socket; -1: none, it is handed its connections. */
static inline struct MHD_Daemon *wsbridge_start_daemon(int descriptor, struct wsbridge_callbacks callbacks,
                                                       size_t connection_memory_bytes,
                                                       unsigned int connection_limit)
{
    const unsigned int listening = descriptor < 0 ? MHD_USE_NO_LISTEN_SOCKET : 0;
    /* With that flag the option is refused, whatever socket it names. */
    struct MHD_OptionItem socket[] = {
        {descriptor < 0 ? MHD_OPTION_END : MHD_OPTION_LISTEN_SOCKET, descriptor, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG | listening, 0,
                            callbacks.may_accept, callbacks.context, callbacks.answer, callbacks.context,
                            MHD_OPTION_EXTERNAL_LOGGER, callbacks.log, callbacks.context, MHD_OPTION_ARRAY, socket,
                            MHD_OPTION_CONNECTION_MEMORY_LIMIT, connection_memory_bytes,
                            MHD_OPTION_CONNECTION_LIMIT, connection_limit,
                            MHD_OPTION_URI_LOG_CALLBACK, callbacks.target_read, callbacks.context,
                            MHD_OPTION_NOTIFY_COMPLETED, callbacks.completed, callbacks.context,
                            MHD_OPTION_NOTIFY_CONNECTION, callbacks.connection_changed, callbacks.context,
                            MHD_OPTION_END);
}

/* The descriptor to poll for a daemon in external epoll mode, or -1. */
static inline int wsbridge_epoll_descriptor(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_EPOLL_FD);
    return info == NULL ? -1 : info->epoll_fd;
}

/* How many connections are open. */
static inline unsigned int wsbridge_connection_count(struct MHD_Daemon *daemon)
{
    const union MHD_DaemonInfo *info = MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS);
    return info == NULL ? 0 : info->num_connections;
}

/* The socket of a connection, or -1. */
static inline int wsbridge_connection_descriptor(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info == NULL ? -1 : info->connect_fd;
}

/* What the callback for changed connections left in its own context, or NULL. */
static inline void *wsbridge_connection_context(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info == NULL ? NULL : info->socket_context;
}

/* How long the head of the request is, with its request line and its empty line; 0 if it is not known. */
static inline size_t wsbridge_head_bytes(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
    return info == NULL ? 0 : info->header_size;
}

/* The peer's address, or NULL. */
static inline const struct sockaddr *wsbridge_client_address(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info == NULL ? NULL : info->client_addr;
}

/* Lets the daemon close a connection after so many seconds of silence. */
static inline void wsbridge_set_timeout(struct MHD_Connection *connection, unsigned int seconds)
{
    (void)MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, seconds);
}

/* Has a response sent without chunks, and without a length that it has not. */
static inline void wsbridge_leave_unframed(struct MHD_Response *response)
{
    (void)MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
}

/* How long the daemon can wait, in milliseconds, or -1: for as long as nothing happens. */
static inline long long wsbridge_timeout(struct MHD_Daemon *daemon)
{
    MHD_UNSIGNED_LONG_LONG milliseconds;
    if (MHD_get_timeout(daemon, &milliseconds) != MHD_YES)
        return -1;
    return milliseconds > 3600000 ? 3600000 : (long long)milliseconds;
}
