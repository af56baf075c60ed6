import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { type ProcessSpec, startGroup } from './process-group.ts';
import { findProgram, type Sandbox, sandboxed, sandboxProblem } from './sandbox.ts';

const [unshare, mount] = ['unshare', 'mount'].map((name) => findProgram(name, undefined) ?? name) as [string, string];
const sandbox: Sandbox = { unshare, mount, hidden: [], pinned: [], readOnly: [], hostProcesses: false };
const isPossible = (await sandboxProblem(sandbox)) === null;

const script = 'read line; cat /proc/self/oom_score_adj';
const server: ProcessSpec = {
  command: '/bin/sh',
  args: ['-c', script],
  env: { PATH: process.env['PATH'] ?? '' },
  secrets: [],
  cwd: '/',
  memoryLimitBytes: 0,
};

test.runIf(process.platform === 'linux').for([
  ['without a sandbox', server, true],
  ['in one', sandboxed(server, sandbox), isPossible],
] as const)('where memory is short the kernel ends a tool server first: %s', async ([, spec, canRun], { skip }) => {
  if (!canRun) skip();
  const { stdin, stdout } = startGroup(spec);
  stdin.end('go\n');
  expect(await text(stdout)).toBe('1000\n');
});
