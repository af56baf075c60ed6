import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from './run-command.ts';

const withoutCode = (text: string) => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, 'code');

/** Ids of the headings of a page, as GitHub makes them. */
function anchors(text: string): Set<string> {
  const headings = text.replace(/^```[\s\S]*?^```/gm, '').matchAll(/^#{1,6} (.*)$/gm);
  return new Set(
    [...headings].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replaceAll(' ', '-'),
    ),
  );
}

/** Relative links of a page that lead to no file, or to a heading that its page does not have. */
function brokenLinks(page: string, text: string): string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)].flatMap(([, target = '']) => {
    if (/^[a-z]+:/.test(target)) return [];
    const [path = '', anchor] = target.split('#');
    const file = path === '' ? page : normalize(join(dirname(page), path));
    if (!existsSync(join(ROOT, file))) return [`${page}: ${target}`];
    if (anchor === undefined) return [];
    return anchors(readFileSync(join(ROOT, file), 'utf8')).has(anchor) ? [] : [`${page}: ${target}`];
  });
}

test('every relative link of a page leads to a file and a heading', () => {
  const pages = execFileSync('git', ['ls-files', '-co', '--exclude-standard', '*.md'], { cwd: ROOT, encoding: 'utf8' });
  const found = pages.split('\n').filter((page) => page !== '' && existsSync(join(ROOT, page)));
  expect(found).toContain('README.md');
  expect(found.flatMap((page) => brokenLinks(page, readFileSync(join(ROOT, page), 'utf8')))).toEqual([]);
});

test('a link to a missing file or heading is named', () => {
  const text = '[a](gone.md) [b](../README.md#gone) [c](../README.md) `[d](gone.md)`\n```\n[e](gone.md)\n```\n';
  expect(brokenLinks('docs/planted.md', text)).toEqual([
    'docs/planted.md: gone.md',
    'docs/planted.md: ../README.md#gone',
  ]);
});

/** Paths of the repository in backticks. */
const namedPaths = (text: string): string[] =>
  [...text.matchAll(/`((?:api-server|gateway|controller|crds|e2e|config|docs)\/[\w./-]*)`/g)].map(
    ([, path = '']) => path,
  );

test('every path that the worked examples name exists', () => {
  const named = namedPaths(readFileSync(join(ROOT, 'CONTRIBUTING.md'), 'utf8'));
  expect(named.length).toBeGreaterThan(30);
  expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
});
