import { perSnapshot, type Snapshot } from '../../../service/definitions/definitions.ts';
import { executorLine } from '../definitions/shapes.ts';
import { RAIL } from '../page.ts';
import { paths } from '../paths.ts';
import { statusLook } from '../status.ts';
import { pipelineSteps } from '../definitions/places.ts';

export interface GotoResult {
  icon: string;
  label: string;
  note: string;
  href: string;
}

interface Input {
  q: string;
  definitions: Snapshot;
  agents: readonly string[];
  runs: readonly { id: string; pipeline: string; status: string; summary: string | null }[];
  operator: boolean;
}

const MOST = 20;

const PAGES: GotoResult[] = RAIL.flatMap(({ group, entries }) =>
  entries.map(({ label, icon, href }) => ({ label, icon, href, note: group })),
);

/** Pages, pipelines, steps and agents with these words in their name, and runs whose id begins so; the best first. */
export function gotoResults({ q, definitions, agents, runs, operator }: Input): GotoResult[] {
  const words = q.trim().toLowerCase();
  const { listed, started, steps } = definitionResults(definitions);
  const named = [...PAGES, ...listed, ...(operator ? started : []), ...steps, ...agents.map(agentResult)];
  const ranked = named.map((one) => ({ one, rank: rankOf(one.label.toLowerCase(), words) }));
  const best = ranked.filter(({ rank }) => rank < NO_MATCH).toSorted((a, b) => a.rank - b.rank);
  return [...runs.map(runResult), ...best.map(({ one }) => one)].slice(0, MOST);
}

const NO_MATCH = 4;

/** 0 for the name itself, then its beginning, the beginning of a part of it, anywhere in it. */
function rankOf(name: string, words: string): number {
  if (name === words) return 0;
  const at = name.indexOf(words);
  if (at === -1) return words.split(/\s+/).every((word) => name.includes(word)) ? 3 : NO_MATCH;
  if (at === 0) return 1;
  return /[\s_-]/.test(name[at - 1] ?? '') ? 2 : 3;
}

const definitionResults = perSnapshot((definitions) => {
  const { pipelines, steps } = definitions;
  const listed = pipelines.map(({ name }) => ({
    icon: 'pipelines',
    label: name,
    note: 'Pipeline',
    href: paths.pipeline(name),
  }));
  const started = pipelines.map(({ name }) => ({
    icon: 'replays',
    label: `Run ${name}`,
    note: 'Action',
    href: paths.pipelineRun(name),
  }));
  const library = steps.map(({ name, config }) => ({
    icon: 'steps',
    label: name,
    note: `Step · ${executorLine(config)}`,
    href: paths.step(name),
  }));
  const known = new Set(steps.map(({ name }) => name));
  const inPipelines = pipelineSteps(definitions)
    .filter(({ name }) => !known.has(name))
    .map(({ name, href, users }) => ({
      icon: 'steps',
      label: name,
      note: `Step of ${users.map((user) => user.name).join(', ')}`,
      href,
    }));
  return { listed, started, steps: [...library, ...inPipelines] };
});

const agentResult = (name: string): GotoResult => ({
  icon: 'agents',
  label: name,
  note: 'Agent',
  href: paths.agent(name),
});

const runResult = ({ id, pipeline, status, summary }: Input['runs'][number]): GotoResult => ({
  icon: statusLook(status).icon,
  label: summary ?? id,
  note: `Run ${id.slice(0, 13)}… of ${pipeline}`,
  href: paths.run(id),
});
