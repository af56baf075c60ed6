import { AsyncLocalStorage } from 'node:async_hooks';

const within = new AsyncLocalStorage<true>();

/** Whether a tool calls this route; the audit log then has `mcp:<token name>`. No header says it, so no client can claim it. */
export const isMcpCall = (): boolean => within.getStore() === true;
export const asMcpCall = <T>(call: () => Promise<T>): Promise<T> => within.run(true, async () => await call());
