import { closeSync, constants, fstatSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { devNull, tmpdir } from 'node:os';

/** What Node and the C library read before any code runs; not HOME, where Node would look for modules that a tool server may have put there. */
const READ_AT_START =
  /^(PATH|USER|SHELL|LANG|TZ|TMPDIR|NODE_\w+|LC_\w+|LD_\w+|MALLOC_\w+|UV_(THREADPOOL_SIZE|USE_IO_URING)|SSL_CERT_(FILE|DIR)|DYLD_\w+)$/;
/** Other programs share the prefixes. */
const SECRET = /TOKEN|SECRET|PASSWORD|KEY/;
/** Every variable that does not have to stay in sight may be a secret. */
export const isKept = (name: string): boolean => READ_AT_START.test(name) && !SECRET.test(name);
const MARK = 'SIGNALBOX_ENVIRONMENT_ON_STDIN';
/** In memory where that is possible. */
const DIRECTORIES = ['/dev/shm', tmpdir()];
/** Linux opens a file that never had a name with it (O_TMPFILE), and O_EXCL says that it gets none. */
const NAMELESS = 0o20000000 | constants.O_DIRECTORY | constants.O_EXCL;

/**
 * Takes the environment out of sight: /proc/PID/environ shows for ever what a process was started with. The process passes its
 * variables to itself in a file without a name and executes itself again without them, under the same process id; then `process.env`
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

/** Only the standard streams survive execve, so the file takes the place of stdin, which no service reads. */
function fillStdin(text: string): string | null {
  closeSync(0);
  if (DIRECTORIES.some((directory) => openNameless(directory) && writeWhole(text))) return null;
  openSync(devNull, 'r');
  return 'no directory takes a file without a name that holds the environment';
}

/** A tool server could open by its name what is in a directory that it sees, if only for a moment. */
function openNameless(directory: string): boolean {
  try {
    const opened = openSync(directory, NAMELESS | constants.O_RDWR, 0o600);
    if (opened !== 0) closeSync(opened);
    return opened === 0;
  } catch {
    return false;
  }
}

/** Where it does not fit, nothing of it stays. */
function writeWhole(text: string): boolean {
  const bytes = Buffer.from(text);
  try {
    if (writeSync(0, bytes) === bytes.length) return true;
  } catch {
    // No space.
  }
  closeSync(0);
  return false;
}

function takeEnvironment(): string | null {
  delete process.env[MARK];
  if (!fstatSync(0).isFile()) return 'stdin is not the file that it was announced to be';
  const bytes = Buffer.alloc(fstatSync(0).size);
  const read = readSync(0, bytes, { position: 0 });
  ftruncateSync(0);
  closeSync(0);
  openSync(devNull, 'r');
  Object.assign(process.env, JSON.parse(bytes.toString('utf8', 0, read)));
  return null;
}
