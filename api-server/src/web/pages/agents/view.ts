import type { AgentVersionView } from '../../../service/views/analytics/versions.ts';
import { paths } from '../paths.ts';
import { patchLines } from '../diff/patch-lines.ts';
import { MOST_VERSIONS, numbered, seen } from '../steps/prompt-versions.ts';

/** The versions of an agent, the newest expanded, each with its files and its diff. */
export function agentView(name: string, versions: readonly AgentVersionView[], now: number) {
  return {
    name,
    listPath: paths.agents(),
    rows: versions.slice(0, MOST_VERSIONS).map((version, at) => ({
      anchor: `version-${encodeURIComponent(version.agent_version)}`,
      version: version.agent_version,
      open: at === 0,
      latest: at === 0,
      note: version.note,
      seen: seen(version, now),
      steps: version.used_by_steps.map((step) => ({ name: step, href: paths.step(step) })),
      diff: version.diff_from_previous === null ? null : patchLines(version.diff_from_previous, 'several'),
      files: [
        { name: 'soul.md', lines: version.soul_md === null ? null : numbered(version.soul_md) },
        { name: 'agent.yaml', lines: version.agent_yaml === null ? null : numbered(version.agent_yaml) },
      ].filter(({ lines }) => lines !== null),
    })),
    older: Math.max(0, versions.length - MOST_VERSIONS),
    route: `GET /agents/${name}/versions`,
  };
}
