import { WebSocket } from 'ws';
import type { Service } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';

/** Let a service listen for an inspector on a free loopback port; goes before the program's name. */
export const INSPECTED: readonly string[] = ['--inspect=127.0.0.1:0'];

const MIB = 1024 * 1024;
const ADDRESS = /^Debugger listening on (ws:\/\/\S+)$/;

/** In MiB. */
export interface MemorySample {
  /** What is left on the heap and in buffers after a collection. */
  readonly held: number;
  /** What the process has from the system: the highest of before and after the collection. */
  readonly resident: number;
}

export interface MemoryProbe {
  sample(): Promise<MemorySample>;
  close(): void;
}

/** Asks a service started with `INSPECTED` what it holds. Resident memory of a healthy process wanders, as V8 frees large buffers late. */
export async function openMemoryProbe(service: Service): Promise<MemoryProbe> {
  // Said on stderr, so maybe not heard yet when stdout said that the service listens; the gateway executes itself again and says a second one.
  const said = async () => {
    const address = service.logs.map(({ raw }) => ADDRESS.exec(raw)?.[1]).findLast(Boolean);
    return address === undefined ? undefined : opened(address);
  };
  const socket = await waitFor(said, { what: 'the inspector of the service' });
  const ask = asker(socket);
  const usage = async (): Promise<NodeJS.MemoryUsage> => {
    const expression = 'process.memoryUsage()';
    const { result } = (await ask('Runtime.evaluate', { expression, returnByValue: true })) as {
      result: { value: NodeJS.MemoryUsage };
    };
    return result.value;
  };
  return {
    sample: async () => {
      const before = await usage();
      await ask('HeapProfiler.collectGarbage');
      const after = await usage();
      return { held: (after.heapUsed + after.external) / MIB, resident: Math.max(before.rss, after.rss) / MIB };
    },
    close: () => socket.terminate(),
  };
}

function opened(address: string): Promise<WebSocket | undefined> {
  const socket = new WebSocket(address);
  return new Promise((resolve) => socket.once('open', () => resolve(socket)).once('error', () => resolve(undefined)));
}

function asker(socket: WebSocket): (method: string, params?: object) => Promise<unknown> {
  const waiting = new Map<number, { resolve: (result: unknown) => void; reject: (why: Error) => void }>();
  let last = 0;
  socket.on('message', (data) => {
    const { id, result, error } = JSON.parse(String(data)) as {
      id?: number;
      result?: unknown;
      error?: { message: string };
    };
    const asked = waiting.get(id ?? 0);
    waiting.delete(id ?? 0);
    if (error) asked?.reject(new Error(error.message));
    else asked?.resolve(result);
  });
  socket.on('close', () => waiting.forEach(({ reject }) => reject(new Error('the inspected service is gone'))));
  return (method, params) =>
    new Promise((resolve, reject) => {
      waiting.set((last += 1), { resolve, reject });
      socket.send(JSON.stringify({ id: last, method, params }));
    });
}
