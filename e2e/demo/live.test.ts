import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { parse } from 'yaml';
import { writeGatewayConfig } from '../support/local-config.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { liveChange, liveProvider } from './live.ts';
import { readCommand } from './options.ts';

const scratch = scratchDirectory('live-');
afterAll(() => scratch.remove());

test('the provider is the one whose key is set', () => {
  expect(liveProvider({}, null)).toBeNull();
  expect(liveProvider({ OPENAI_API_KEY: 'k' }, null)).toMatchObject({ name: 'openai' });
  expect(liveProvider({ GEMINI_API_KEY: 'k' }, 'gemini-x')).toMatchObject({ name: 'google', model: 'gemini-x' });
});

test('a model gets the agents without their scripts, and the key stays out of the files', () => {
  const provider = liveProvider({ ANTHROPIC_API_KEY: 'secret-key' }, 'some-model');
  if (!provider) throw new Error('no provider');
  const path = writeGatewayConfig({ dataDir: scratch.path, port: 0, change: liveChange(provider, scratch.path) });
  const text = readFileSync(path, 'utf8');
  expect(text).not.toMatch(/secret-key/);
  const { agents_dir: folder } = parse(text) as { agents_dir: string };
  const agent = (file: string) => readFileSync(join(folder, 'machine-reader', file), 'utf8');
  expect(parse(agent('agent.yaml'))).toMatchObject({ name: 'machine-reader', model: 'anthropic/some-model' });
  expect(agent('soul.md')).toMatch(/You measure the machine/);
  expect(agent('soul.md')).not.toMatch(/demo|calls:|```/);
});

test('options that contradict each other are refused', () => {
  expect(readCommand(['--model', 'x'])).toEqual({ kind: 'error', message: '--model needs --live' });
  expect(readCommand(['--once', '--live'])).toMatchObject({ kind: 'run', options: { once: true, live: true } });
});
