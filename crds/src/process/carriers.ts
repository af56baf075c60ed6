import { open, readdir } from 'node:fs/promises';

/** Ids of all processes, as text; empty where there is no /proc. */
export async function processIds(): Promise<string[]> {
  const names = await readdir('/proc').catch(() => []);
  return names.filter((name) => name >= '1' && name < ':');
}

/**
 * What a process was started with, as far as it fits into `room`; empty for one that has ended or is another user's. Never read it
 * whole: a process can place gigabytes there that take no memory of its own.
 */
export async function environmentOf(pid: string, room: Buffer): Promise<Buffer> {
  try {
    await using file = await open(`/proc/${pid}/environ`);
    const { bytesRead } = await file.read(room, 0, room.length, 0);
    return room.subarray(0, bytesRead);
  } catch {
    return Buffer.alloc(0);
  }
}

/** Every process with the text in the first `mostBytes` of its environment, as soon as it is found: when it has ended, its id may be another's. */
export async function* carriersOf(text: string, mostBytes: number): AsyncGenerator<number> {
  const room = Buffer.allocUnsafe(mostBytes);
  for (const pid of await processIds()) {
    const environment = await environmentOf(pid, room);
    if (environment.includes(text)) yield Number(pid);
  }
}
