/** Whose connection it is: with which token, from which address. */
export interface Peer {
  token: string;
  address: string;
}

/** Of all, with one token, and of those from one address: what one program opens leaves room for the others; and what all of them left unread, or began to send. */
export const CONNECTION_LIMITS = {
  all: 2000,
  ofToken: 1000,
  ofAddress: 500,
  unreadBytes: 64 * 1024 * 1024,
  unfinishedBytes: 64 * 1024 * 1024,
};

/** Whether there is no room for one more connection of this peer. */
export function isFull(open: readonly Peer[], { token, address }: Peer, limits: typeof CONNECTION_LIMITS): boolean {
  const own = open.filter((peer) => peer.token === token);
  const near = own.filter((peer) => peer.address === address);
  return open.length >= limits.all || own.length >= limits.ofToken || near.length >= limits.ofAddress;
}
