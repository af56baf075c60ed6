import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { deletePair, listAgents, finishSwaps, readPair, writePair } from './agent-files.ts';

const OLD = { agentYaml: 'old yaml', soul: 'old soul' };
const NEW = { agentYaml: 'new yaml', soul: 'new soul' };
let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'agent-files-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const at = (name: string) => join(directory, name);
const pairOf = (name: string) => {
  const read = readPair(directory, name);
  return read.ok ? read.pair : null;
};

test('a pair is written, replaced and deleted without leaving anything', () => {
  writePair(directory, 'a', OLD);
  writePair(directory, 'a', NEW);
  expect(pairOf('a')).toEqual(NEW);
  expect(readdirSync(directory)).toEqual(['a']);
  deletePair(directory, 'a');
  expect(readdirSync(directory)).toEqual([]);
});

describe('a crash between two steps of a swap', () => {
  /** The directory as it is after each step of replacing OLD by NEW. */
  const states: [string, () => void, typeof OLD][] = [
    ['nothing written yet', () => mkdirSync(at('a.new')), OLD],
    ['half of the new pair', () => writePart('a.new', 'agent.yaml', NEW.agentYaml), OLD],
    ['the new pair complete', () => writePair(directory, 'n', NEW), OLD],
    ['the old one aside', () => aside(), NEW],
    ['the new one in', () => swapped(), NEW],
  ];
  function writePart(folder: string, file: string, text: string) {
    mkdirSync(at(folder), { recursive: true });
    writeFileSync(join(at(folder), file), text);
  }
  function aside() {
    writePair(directory, 'n', NEW);
    renameSync(at('n'), at('a.new'));
    renameSync(at('a'), at('a.old'));
  }
  function swapped() {
    cpSync(at('a'), at('a.old'), { recursive: true });
    writePair(directory, 'n', NEW);
    rmSync(at('a'), { recursive: true });
    renameSync(at('n'), at('a'));
  }

  test.each(states)('%s: one whole edition is served and the rest is gone', (_, crash, expected) => {
    writePair(directory, 'a', OLD);
    crash();
    if (existsSync(at('n'))) renameSync(at('n'), at('a.new'));
    finishSwaps(directory);
    expect(pairOf('a')).toEqual(expected);
    expect(readdirSync(directory)).toEqual(['a']);
    finishSwaps(directory);
    expect(pairOf('a')).toEqual(expected);
  });

  test('of a first write: the agent never was; of a delete: it is gone', () => {
    writePart('fresh.new', 'agent.yaml', 'x');
    writePart('gone.deleted', 'agent.yaml', 'x');
    finishSwaps(directory);
    expect(readdirSync(directory)).toEqual([]);
  });
});

test('only directories with a valid name are agents', () => {
  for (const name of ['ok', '.git', 'a.new', 'a b']) mkdirSync(at(name));
  writeFileSync(at('file'), '');
  expect(listAgents(directory)).toEqual(['ok']);
});

test('a missing file is told by its name', () => {
  mkdirSync(at('a'));
  writeFileSync(join(at('a'), 'agent.yaml'), 'x');
  expect(readPair(directory, 'a')).toEqual({ ok: false, file: 'soul.md', message: 'is missing' });
});

test('a name that was not checked never becomes a path', () => {
  expect(() => writePair(directory, '../evil', NEW)).toThrow('must be checked');
});
