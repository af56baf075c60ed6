import { spawnSync } from 'node:child_process';
import { closeSync, constants, fstatSync, mkdtempSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join } from 'node:path';

/** What Node and the C library read before any code runs; not HOME, where Node would look for modules that a tool server may have put there. */
const READ_AT_START =
  /^(PATH|USER|SHELL|LANG|TZ|TMPDIR|NODE_\w+|LC_\w+|LD_\w+|MALLOC_\w+|UV_\w+|SSL_CERT_(FILE|DIR)|DYLD_\w+)$/;
/** Other programs share the prefixes. */
const SECRET = /TOKEN|SECRET|PASSWORD|KEY/;
/** Every variable that does not have to stay in sight may be a secret. */
export const isKept = (name: string): boolean => READ_AT_START.test(name) && !SECRET.test(name);
const MARK = 'SIGNALBOX_ENVIRONMENT_ON_STDIN';
const CHUNK_BYTES = 65_536;

/**
 * Takes the environment out of sight: /proc/PID/environ shows for ever what a process was started with. The process passes its
 * variables to itself through a pipe and executes itself again without them, under the same process id; then `process.env`
 * has them all, and /proc none but those that Node needs to start. Answers why this is not possible, or null.
 */
export function hideEnvironment(): string | null {
  if (process.env[MARK] !== undefined) return takeEnvironment();
  const entries = Object.entries(process.env).filter(([name]) => !isKept(name));
  if (entries.length === 0) return null;
  if (typeof process.execve !== 'function') return 'this platform has no execve';
  const problem = fillStdin(JSON.stringify(Object.fromEntries(entries)));
  if (problem !== null) return problem;
  const kept = Object.entries(process.env).filter(([name]) => isKept(name));
  const args = [process.execPath, ...process.execArgv, ...process.argv.slice(1)];
  return process.execve(process.execPath, args, { ...Object.fromEntries(kept), [MARK]: '1' });
}

/** Only the standard streams survive execve, so the pipe takes the place of stdin, which no service reads. */
function fillStdin(text: string): string | null {
  const directory = [tmpdir(), '/dev/shm'].map(makePipe).find((made) => made !== null);
  if (!directory) return 'no writable directory for a pipe';
  try {
    closeSync(0);
    const opened = openSync(join(directory, NAME), constants.O_RDWR | constants.O_NONBLOCK);
    if (opened === 0 && writeWhole(text)) return null;
    closeSync(opened);
    openSync(devNull, 'r');
    return 'the environment does not fit into a pipe';
  } finally {
    // Without a name it cannot be opened any more.
    rmSync(directory, { recursive: true, force: true });
  }
}

const NAME = 'environment';

/** Answers the directory of a new pipe; null where none can be made. */
function makePipe(parent: string): string | null {
  try {
    const directory = mkdtempSync(join(parent, 'signalbox-'));
    const made = spawnSync('mkfifo', ['-m', '600', join(directory, NAME)], { env: { PATH: process.env['PATH'] } });
    if (made.status === 0) return directory;
    rmSync(directory, { recursive: true, force: true });
    return null;
  } catch {
    return null;
  }
}

function writeWhole(text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    return writeSync(0, bytes) === bytes.length;
  } catch {
    return false;
  }
}

function takeEnvironment(): string | null {
  delete process.env[MARK];
  if (!fstatSync(0).isFIFO()) return 'stdin is not the pipe that it was announced to be';
  const chunks: Buffer[] = [];
  const chunk = Buffer.alloc(CHUNK_BYTES);
  for (let read = readSome(chunk); read > 0; read = readSome(chunk)) chunks.push(Buffer.from(chunk.subarray(0, read)));
  closeSync(0);
  openSync(devNull, 'r');
  Object.assign(process.env, JSON.parse(Buffer.concat(chunks).toString('utf8')));
  return null;
}

/** 0 where the pipe is empty: it never ends, because this process could still write to it. */
function readSome(chunk: Buffer): number {
  try {
    return readSync(0, chunk);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') return 0;
    throw error;
  }
}
