import { newestFirst } from './prompt-versions.ts';
import { diffsInTime } from './text-diff.ts';

/** A version of an agent as the store knows it; times in milliseconds. */
export interface AgentUse {
  agentVersion: string;
  /** Null where the texts could not be had, for which `note` has the reason. */
  soulMd: string | null;
  agentYaml: string | null;
  note: string | null;
  firstSeenAt: number;
  lastSeenAt: number;
  usedBySteps: string[];
}

/** A snapshot of an agent (Orchestration 2.9). */
export interface AgentVersion extends AgentUse {
  /** Unified, of the files that changed; null for the oldest, and where the texts of one of the two are not known. */
  diffFromPrevious: string | null;
}

const NOT_YET = 'The text of this version has not been read yet.';

/** The versions of an agent, newest first by when each was first used, each with what it changed. */
export function agentVersions(uses: readonly AgentUse[]): AgentVersion[] {
  const newest = newestFirst(uses, ({ agentVersion }) => agentVersion);
  const unified = diffsInTime();
  return newest.map((use, at) => ({
    ...use,
    note: use.soulMd === null ? (use.note ?? NOT_YET) : use.note,
    diffFromPrevious: diff(newest[at + 1], use, unified),
  }));
}

function diff(previous: AgentUse | undefined, use: AgentUse, unified: ReturnType<typeof diffsInTime>): string | null {
  const [before, after] = [previous && filesOf(previous), filesOf(use)];
  if (!before || !after) return null;
  return after
    .map((file, at) => ({ old: before[at] ?? file, file }))
    .filter(({ old, file }) => old.text !== file.text)
    .map(({ old, file }) => unified(old, file))
    .join('');
}

function filesOf({ agentVersion, agentYaml, soulMd }: AgentUse) {
  if (agentYaml === null || soulMd === null) return null;
  return [
    { name: `${agentVersion}/agent.yaml`, text: agentYaml },
    { name: `${agentVersion}/soul.md`, text: soulMd },
  ];
}
