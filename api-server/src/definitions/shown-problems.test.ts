import type { Problem } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { shownProblems } from './shown-problems.ts';

const problem = (file: string, msg: string): Problem => ({
  severity: 'error',
  kind: 'Pipeline',
  name: 'p',
  file,
  loc: ['name'],
  msg,
  reason: 'invalid',
});

test('a file is shown from the folder of the configuration, also in a message that names it or ends with another', async () => {
  const other = '/srv/config/pipelines/a b.yaml';
  const own = '/srv/config/pipelines/own.yaml';
  const shown = await shownProblems(
    [
      problem(own, `"p" is already defined in ${other}`),
      problem(own, `EACCES: permission denied, open '${own}'`),
      problem('/data/managed/pipelines/m.yaml', '"labels.a/b" is not known'),
    ],
    [other],
    '/srv/config',
  );
  expect(shown.map(({ file, msg }) => `${file}: ${msg}`)).toEqual([
    'pipelines/own.yaml: "p" is already defined in pipelines/a b.yaml',
    "pipelines/own.yaml: EACCES: permission denied, open 'pipelines/own.yaml'",
    'pipelines/m.yaml: "labels.a/b" is not known',
  ]);
});

test('thousands of messages with a slash are not searched for each of thousands of files, nor in one turn', async () => {
  const files = Array.from({ length: 3_000 }, (_, at) => `/managed/pipelines/tenant-${at}.yaml`);
  const problems = files.flatMap((file) =>
    Array.from({ length: 20 }, () => problem(file, `"labels.a/b" ${'x'.repeat(50)}`)),
  );
  let turns = 0;
  const other = setInterval(() => turns++, 0);
  const before = process.threadCpuUsage();
  expect(await shownProblems(problems, files, '/config')).toHaveLength(60_000);
  clearInterval(other);
  expect(turns).toBeGreaterThan(2);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1000).toBeLessThan(2_000);
});
