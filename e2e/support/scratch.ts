import { mkdtempSync, rmSync } from 'node:fs';
import { randomInt } from 'node:crypto';
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

/** Below the range that Linux uses for outgoing connections and for port 0, so that no other process gets it meanwhile. */
const PORTS = { first: 20_000, count: 12_000 };
const candidates = portsInTurn();

/** A TCP port of 127.0.0.1 that is free and answered once, for programs that cannot take port 0. */
export async function freePort(): Promise<number> {
  for (let next = candidates.next(); !next.done; next = candidates.next())
    if (await isFree(next.value)) return next.value;
  throw new Error('there is no free port');
}

/** From a random one on, each once. */
function* portsInTurn(): Generator<number> {
  const start = randomInt(PORTS.count);
  for (let turn = 0; turn < PORTS.count; turn++) yield PORTS.first + ((start + turn) % PORTS.count);
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
