/**
 * For every HTTP server of this project: a connection whose request is not there in time is closed, so that clients that
 * are slow on purpose hold no sockets. Node looks at them every `connectionsCheckingInterval` only.
 */
export const SLOW_CLIENTS = {
  headersTimeout: 20_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 72_000,
  connectionsCheckingInterval: 2_000,
  /** Of TLS. */
  handshakeTimeout: 20_000,
} as const;
