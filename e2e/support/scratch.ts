import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A new empty directory; `remove` (or leaving a `using` block) deletes it. */
export interface Scratch {
  readonly path: string;
  remove(): void;
  [Symbol.dispose](): void;
}

export function scratchDirectory(prefix = 'signalbox-'): Scratch {
  const path = mkdtempSync(join(tmpdir(), prefix));
  const remove = () => rmSync(path, { recursive: true, force: true });
  return { path, remove, [Symbol.dispose]: remove };
}

/** A TCP port of 127.0.0.1 that was free a moment ago, for programs that cannot take port 0. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}
