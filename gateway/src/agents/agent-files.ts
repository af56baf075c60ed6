import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { isName } from '@signalbox/crds';

/** The two files of an agent as text. */
export interface AgentPair {
  agentYaml: string;
  soul: string;
}
export type ReadPair = { ok: true; pair: AgentPair } | { ok: false; file: string; message: string };

const AGENT_FILE = 'agent.yaml';
const SOUL_FILE = 'soul.md';
const MAX_FILE_BYTES = 2 * 1024 * 1024;

/** Names of the agents in a directory, in byte order. A missing directory has none. */
export function listAgents(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => isName(entry.name) && (entry.isDirectory() || entry.isSymbolicLink()))
    .map(({ name }) => name)
    .toSorted((a, b) => (a < b ? -1 : 1));
}

export function readPair(directory: string, name: string): ReadPair {
  const agentYaml = readText(join(directory, name, AGENT_FILE));
  if (!agentYaml.ok) return { ok: false, file: AGENT_FILE, message: agentYaml.message };
  const soul = readText(join(directory, name, SOUL_FILE));
  if (!soul.ok) return { ok: false, file: SOUL_FILE, message: soul.message };
  return { ok: true, pair: { agentYaml: agentYaml.text, soul: soul.text } };
}

function readText(path: string): { ok: true; text: string } | { ok: false; message: string } {
  try {
    if (statSync(path).size > MAX_FILE_BYTES) return { ok: false, message: `is larger than ${MAX_FILE_BYTES} bytes` };
    return { ok: true, text: readFileSync(path, 'utf8') };
  } catch (error) {
    const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT';
    return { ok: false, message: missing ? 'is missing' : 'cannot be read' };
  }
}

/**
 * Replaces or creates an agent as one unit: the new pair is complete on disk beside the old before two renames swap them.
 * `finishSwaps` finishes what a crash interrupts, so a reader never sees files of two versions (Gateway 4).
 */
export function writePair(directory: string, name: string, pair: AgentPair): void {
  const { current, fresh, old } = pathsOf(directory, name);
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { recursive: true });
  writeDurably(join(fresh, AGENT_FILE), pair.agentYaml);
  writeDurably(join(fresh, SOUL_FILE), pair.soul);
  syncDirectory(fresh);
  const replaces = existsSync(current);
  if (replaces) renameSync(current, old);
  try {
    renameSync(fresh, current);
  } catch (error) {
    if (replaces) renameSync(old, current);
    throw error;
  }
  syncDirectory(directory);
  rmSync(old, { recursive: true, force: true });
}

/** Deletes an agent: one rename takes it out of the directory, then its files are removed. */
export function deletePair(directory: string, name: string): void {
  const { current, deleted } = pathsOf(directory, name);
  rmSync(deleted, { recursive: true, force: true });
  renameSync(current, deleted);
  syncDirectory(directory);
  rmSync(deleted, { recursive: true, force: true });
}

/** Finishes or reverts every swap that a crash interrupted. Called before the directory is read. */
export function finishSwaps(directory: string): void {
  if (!existsSync(directory)) return;
  const marked = readdirSync(directory).flatMap((entry) => {
    const match = /^(.+)\.(?:new|old|deleted)$/.exec(entry);
    return match?.[1] && isName(match[1]) ? [match[1]] : [];
  });
  for (const name of new Set(marked)) mendOne(directory, name);
}

function mendOne(directory: string, name: string): void {
  const { current, fresh, old, deleted } = pathsOf(directory, name);
  const interrupted = !existsSync(current) && existsSync(old);
  if (interrupted) renameSync(existsSync(fresh) ? fresh : old, current);
  for (const leftover of [fresh, old, deleted]) rmSync(leftover, { recursive: true, force: true });
  syncDirectory(directory);
}

function pathsOf(directory: string, name: string): Record<'current' | 'fresh' | 'old' | 'deleted', string> {
  if (!isName(name)) throw new Error('an agent name must be checked before it becomes a path');
  const current = join(directory, name);
  return { current, fresh: `${current}.new`, old: `${current}.old`, deleted: `${current}.deleted` };
}

function writeDurably(path: string, text: string): void {
  const file = openSync(path, 'w', 0o644);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

function syncDirectory(path: string): void {
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
