import type { AgentVersion } from '../../../analytics/agent-versions.ts';
import { paths } from '../paths.ts';
import { patchLines } from '../steps/patch-lines.ts';
import { MOST_VERSIONS, numbered, seen } from '../steps/prompt-versions.ts';

/** The versions of a gateway's agent, the newest open, each with its texts and what it changed. */
export function agentView(name: string, versions: readonly AgentVersion[], now: number) {
  return {
    name,
    listPath: paths.agents(),
    rows: versions.slice(0, MOST_VERSIONS).map((version, at) => ({
      anchor: `version-${encodeURIComponent(version.agentVersion)}`,
      version: version.agentVersion,
      open: at === 0,
      latest: at === 0,
      note: version.note,
      seen: seen(version, now),
      steps: version.usedBySteps.map((step) => ({ name: step, href: paths.step(step) })),
      diff: version.diffFromPrevious === null ? null : patchLines(version.diffFromPrevious, 'several'),
      files: [
        { name: 'soul.md', lines: version.soulMd === null ? null : numbered(version.soulMd) },
        { name: 'agent.yaml', lines: version.agentYaml === null ? null : numbered(version.agentYaml) },
      ].filter(({ lines }) => lines !== null),
    })),
    older: Math.max(0, versions.length - MOST_VERSIONS),
    route: `GET /agents/${name}/versions`,
  };
}
