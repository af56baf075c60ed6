import { expect, test } from 'vitest';
import { agentVersions, type AgentUse } from './agent-versions.ts';

const use = (agentVersion: string, firstSeenAt: number, texts: [yaml: string, soul: string] | null): AgentUse => ({
  agentVersion,
  soulMd: texts && texts[1],
  agentYaml: texts && texts[0],
  note: null,
  firstSeenAt,
  lastSeenAt: firstSeenAt,
  usedBySteps: ['look'],
});

test('versions come newest first, each with the files that it changed', () => {
  const versions = agentVersions([
    use('a', 1, ['model: m\n', 'Be calm.\n']),
    use('c', 3, ['model: n\n', 'Be quick.\n']),
    use('b', 2, ['model: m\n', 'Be quick.\n']),
  ]);
  expect(versions.map(({ agentVersion }) => agentVersion)).toEqual(['c', 'b', 'a']);
  expect(versions[0]?.diffFromPrevious).toBe(
    '--- b/agent.yaml\n+++ c/agent.yaml\n@@ -1,1 +1,1 @@\n-model: m\n+model: n\n',
  );
  expect(versions[1]?.diffFromPrevious).toContain('+++ b/soul.md\n@@ -1,1 +1,1 @@\n-Be calm.\n+Be quick.');
  expect(versions[2]?.diffFromPrevious).toBeNull();
});

test('a version without its text says why, and is compared with nothing', () => {
  const gone = { ...use('b', 2, null), note: 'The agent had changed.' };
  const versions = agentVersions([use('a', 1, ['x', 'y']), gone, use('c', 3, ['x', 'z']), use('d', 4, null)]);
  expect(versions.map(({ note, diffFromPrevious }) => [note, diffFromPrevious])).toEqual([
    ['The text of this version has not been read yet.', null],
    [null, null],
    ['The agent had changed.', null],
    [null, null],
  ]);
});
