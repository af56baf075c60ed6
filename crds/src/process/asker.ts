import { AsyncLocalStorage } from 'node:async_hooks';

const asking = new AsyncLocalStorage<string>();

/** Whose request it is that something is done for; empty where it is nobody's. */
export const asker = (): string => asking.getStore() ?? '';
/** Does this, and what follows from it, for one who asks. */
export const forAsker = <T>(name: string, work: () => T): T => asking.run(name, work);
