import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { ConfigFile } from '../../api-server/src/config/schema.ts';
import { report } from '../../crds/src/cli/report.ts';
import { GatewayConfig } from '../../gateway/src/config/schema.ts';
import { ROOT } from './run-command.ts';

const FOLDER = join(ROOT, 'docs/howto');

interface Block {
  file: string;
  text: string;
}

/** The YAML blocks of a page that say in their first line which file they are. */
function blocksOf(page: string): Block[] {
  const text = readFileSync(join(FOLDER, page), 'utf8');
  return [...text.matchAll(/^```yaml\n# (\S+)\n([\s\S]*?)^```/gm)].map(([, file = '', body = '']) => ({
    file,
    text: body,
  }));
}

function problemOf({ file, text }: Block): string | null {
  if (file.endsWith('api-server.yaml')) return ConfigFile.safeParse(parse(text)).error?.message ?? null;
  if (file.endsWith('gateway.yaml')) return GatewayConfig.safeParse(parse(text)).error?.message ?? null;
  if (!/\b(pipelines|agents)\//.test(file)) return null;
  const { errors, lines } = report([{ path: file, text, soul: 'A prompt.' }]);
  return errors > 0 ? lines.join('\n') : null;
}

const pages = readdirSync(FOLDER);

describe.each(pages)('%s', (page) => {
  test('its files are what the services accept', () => {
    expect(blocksOf(page).map(problemOf)).toEqual(blocksOf(page).map(() => null));
  });
});

test('the files of every how-to are read, and a wrong one is named', () => {
  expect(pages.flatMap(blocksOf).length).toBeGreaterThan(9);
  expect(problemOf({ file: 'ops/api-server.yaml', text: 'sever: {}' })).toContain('sever');
  expect(problemOf({ file: 'ops/gateway.yaml', text: 'sever: {}' })).toContain('sever');
  expect(problemOf({ file: 'ops/pipelines/x.yaml', text: 'name: x\nstep: []' })).toContain('step');
});

test('where a how-to speaks of repeats, its service recognises them', () => {
  const [, dedup] = blocksOf('write-a-pipeline.md').flatMap(({ file, text }) =>
    file.endsWith('api-server.yaml') ? [text, ConfigFile.parse(parse(text)).dedup] : [],
  );
  expect(dedup).toMatchObject({ enabled: true });
});
