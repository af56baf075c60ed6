import type { AgentVersion } from '../../analytics/agent-versions.ts';
import type { PromptVersion } from '../../analytics/prompt-versions.ts';
import { bucketView } from './calibration.ts';
import { iso } from './views.ts';

/** An edition of a step's prompt (Orchestration 2.9), for routes and pages alike. */
export const promptVersionView = (version: PromptVersion) => ({
  prompt_hash: version.promptHash,
  template: version.template,
  first_seen_at: iso(version.firstSeenAt),
  last_seen_at: iso(version.lastSeenAt),
  runs_total: version.runsTotal,
  labelled_n: version.labelledN,
  diff_from_previous: version.diffFromPrevious,
  calibration: version.calibration.map(bucketView),
});

/** A version of an agent (Orchestration 2.9). */
export const agentVersionView = (version: AgentVersion) => ({
  agent_version: version.agentVersion,
  soul_md: version.soulMd,
  agent_yaml: version.agentYaml,
  note: version.note,
  first_seen_at: iso(version.firstSeenAt),
  last_seen_at: iso(version.lastSeenAt),
  diff_from_previous: version.diffFromPrevious,
  used_by_steps: version.usedBySteps,
});
