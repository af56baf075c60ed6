import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

export type Shim = { ok: true; path: string } | { ok: false; reason: string };

export interface ShimOptions {
  /** Microseconds added to every fsync and fdatasync. */
  fsyncDelayMicroseconds?: number;
  /** Directory of which `shadow` keeps what a power cut would leave. */
  power?: PowerModel;
}

export interface PowerModel {
  directory: string;
  shadow: string;
}

const FSYNC_SHIM = join(import.meta.dirname, 'fsync-shim.c');

/** Compiles an LD_PRELOAD library once for its text; a machine without Linux or a C compiler gets the reason in words. */
export function compileShim(source = FSYNC_SHIM): Shim {
  if (process.platform !== 'linux') return { ok: false, reason: `LD_PRELOAD needs Linux, this is ${process.platform}` };
  const cache = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'signalbox');
  const digest = createHash('sha256').update(readFileSync(source)).digest('hex').slice(0, 12);
  const path = join(cache, `${basename(source, '.c')}-${process.arch}-${digest}.so`);
  if (existsSync(path)) return { ok: true, path };
  mkdirSync(cache, { recursive: true });
  const building = `${path}.${process.pid}`;
  try {
    execFileSync('cc', ['-O2', '-Wall', '-shared', '-fPIC', '-o', building, source, '-ldl', '-lpthread'], {
      stdio: 'pipe',
    });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      return { ok: false, reason: 'no C compiler: `cc` is not on the PATH' };
    throw error;
  }
  renameSync(building, path);
  return { ok: true, path };
}

/** The environment that puts the library under a process. */
export function shimEnvironment(path: string, options: ShimOptions): Record<string, string> {
  const power = options.power;
  return {
    LD_PRELOAD: path,
    ...(options.fsyncDelayMicroseconds && { SHIM_FSYNC_DELAY_US: String(options.fsyncDelayMicroseconds) }),
    ...(power && { SHIM_POWER_DIR: power.directory, SHIM_SHADOW_DIR: power.shadow }),
  };
}

/**
 * Replaces what lies in `directory` by what was fsynced, as a power cut does; the process must be dead (`kill -9`).
 * The shadow is used up: the next process that starts under the library begins a new one.
 */
export function cutPower({ directory, shadow }: PowerModel): void {
  const names = join(shadow, 'names');
  if (!existsSync(names)) throw new Error(`no shadow of ${directory}: was the process started under the library?`);
  for (const entry of readdirSync(directory)) rmSync(join(directory, entry), { recursive: true });
  for (const entry of readdirSync(names, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const name = join(entry.parentPath, entry.name);
    const data = join(shadow, 'data', readFileSync(name, 'utf8'));
    const target = join(directory, name.slice(names.length + 1));
    mkdirSync(dirname(target), { recursive: true });
    if (existsSync(data)) copyFileSync(data, target);
    else writeFileSync(target, '');
  }
  rmSync(shadow, { recursive: true });
}
