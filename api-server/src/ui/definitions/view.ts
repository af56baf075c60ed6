import { age, exactTime } from '../format.ts';
import type { AgentList, DefinitionEntry, DefinitionProblem, Definitions } from '../page-deps.ts';
import { paths } from '../paths.ts';
import { jsonTree } from '../run/json-tree.ts';
import type { RunRow } from '../runs/row.ts';
import { plural } from '../runs/row.ts';

type Config = Record<string, unknown>;
const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');
const list = (value: unknown): Config[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'object' && item !== null) : [];
const tags = (config: Config): string[] => (Array.isArray(config['tags']) ? config['tags'].map(text) : []);
const object = (value: unknown): Config =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Config) : {};

/** Problems of the last load, worst first, each with its place in the file. */
export const problemRows = (problems: DefinitionProblem[]) =>
  problems
    .toSorted((a, b) => a.severity.localeCompare(b.severity))
    .map((problem) => ({
      tone: problem.severity === 'error' ? 'bad' : 'wait',
      icon: problem.severity === 'error' ? 'failed' : 'alert',
      word: problem.severity === 'error' ? 'Error' : 'Warning',
      subject: [problem.kind, problem.name].filter((part) => part !== null).join(' '),
      place: [problem.file, problem.line, problem.col].filter((part) => part !== undefined).join(':'),
      loc: problem.loc.join('.'),
      msg: problem.msg,
    }));

const ofKind = (problems: DefinitionProblem[], kind: string) =>
  problems.filter((problem) => problem.kind === kind || problem.kind === null);

function matchText(match: unknown): string {
  if (match === undefined) return 'Only when named';
  const entries = Object.entries(object(match));
  if (entries.length === 0) return 'Everything';
  return entries.map(([key, value]) => `${key} ${ruleText(value)}`).join(', ');
}

const OPERATORS: Record<string, string> = {
  eq: '=',
  ne: '≠',
  in: 'in',
  not_in: 'not in',
  regex: '~',
  gt: '>',
  gte: '≥',
  lt: '<',
  lte: '≤',
};

/** `in shop, canary`, `~ ^Checkout`, `= critical`. */
function ruleText(rule: unknown): string {
  if (typeof rule !== 'object' || rule === null) return `= ${String(rule)}`;
  const [[name, value] = ['', '']] = Object.entries(rule);
  return `${OPERATORS[name] ?? name} ${Array.isArray(value) ? value.join(' | ') : String(value)}`;
}

const pipelineRow = ({ name, config }: DefinitionEntry) => ({
  name,
  href: paths.pipeline(name),
  description: text(config['description']),
  testing: config['stage'] !== 'production',
  suspended: config['suspend'] === true,
  version: text(config['version']),
  steps: list(config['steps']).length,
  trigger: matchText(object(config['trigger'])['match']),
  tags: tags(config),
});

const loadedLine = (definitions: Definitions, now: number) =>
  `Loaded ${age(new Date(definitions.loadedAt).toISOString(), now)} ago`.replace('now ago', 'just now');

export function pipelinesView(definitions: Definitions, now: number) {
  return {
    rows: definitions.pipelines.map(pipelineRow),
    problems: problemRows(ofKind(definitions.problems, 'Pipeline')),
    count: plural(definitions.pipelines.length, 'pipeline'),
    loaded: loadedLine(definitions, now),
    exact: exactTime(new Date(definitions.loadedAt).toISOString()),
  };
}

const shapeOf = (entry: Config): string => {
  if (entry['parallel'] !== undefined)
    return `parallel · ${plural(list(object(entry['parallel'])['steps']).length, 'branch').replace('branchs', 'branches')}`;
  if (entry['fan_out'] !== undefined) return `fan-out over ${text(object(entry['fan_out'])['over'])}`;
  return [text(entry['executor']), text(entry['agent'] ?? entry['pipeline'] ?? entry['url'])]
    .filter((part) => part !== '')
    .join(' · ');
};

const stepLine = (entry: Config, number: number) => ({
  number: number + 1,
  name: text(entry['name']),
  shape: shapeOf(entry),
  threshold: typeof entry['confidence_threshold'] === 'number' ? entry['confidence_threshold'].toFixed(2) : '',
  when: text(entry['when']),
});

const lines = (source: string) => source.replace(/\n$/, '').split('\n');

/** One pipeline: what starts it, its steps, its text, its problems and its last runs. */
export function pipelineView(entry: DefinitionEntry, definitions: Definitions, runs: RunRow[]) {
  const { config } = entry;
  const schedule = object(config['schedule']);
  const trigger = object(config['trigger']);
  const dedup = object(trigger['dedup']);
  return {
    ...pipelineRow(entry),
    listPath: paths.pipelines(),
    runsPath: paths.runs({ pipeline: entry.name }),
    facts: [
      { label: 'Stage', value: text(config['stage']) || 'testing' },
      { label: 'Version', value: text(config['version']) || '–' },
      { label: 'Matches', value: matchText(trigger['match']) },
      {
        label: 'Dedup',
        value:
          dedup['enabled'] === false
            ? 'off'
            : dedup['window_seconds'] === undefined
              ? 'service default'
              : `${text(dedup['window_seconds'])} s`,
      },
      { label: 'Schedule', value: text(schedule['cron']) || '–' },
      { label: 'File', value: entry.file.split('/').at(-1) ?? entry.file, title: entry.file },
      { label: 'Hash', value: entry.hash, mono: true },
    ],
    entries: list(config['steps']).map(stepLine),
    yaml: lines(entry.text).map((line, i) => ({ number: i + 1, text: line })),
    problems: problemRows(
      definitions.problems.filter((problem) => problem.kind === 'Pipeline' && problem.name === entry.name),
    ),
    rows: runs,
  };
}

const stepRow = ({ name, config }: DefinitionEntry) => ({
  name,
  href: paths.step(name),
  description: text(config['description']),
  executor: text(config['executor']),
  agent: text(config['agent']),
  tags: tags(config),
});

const usersOf = (name: string, definitions: Definitions) =>
  definitions.pipelines
    .filter((pipeline) => pipeline.uses?.includes(name))
    .map((pipeline) => ({ name: pipeline.name, href: paths.pipeline(pipeline.name) }));

export function stepsView(definitions: Definitions, now: number) {
  return {
    rows: definitions.steps.map((step) => ({ ...stepRow(step), users: usersOf(step.name, definitions).length })),
    problems: problemRows(ofKind(definitions.problems, 'LibraryStep')),
    count: plural(definitions.steps.length, 'library step'),
    loaded: loadedLine(definitions, now),
    exact: exactTime(new Date(definitions.loadedAt).toISOString()),
  };
}

export function stepView(entry: DefinitionEntry, definitions: Definitions) {
  return {
    ...stepRow(entry),
    listPath: paths.steps(),
    users: usersOf(entry.name, definitions),
    prompt: text(entry.config['prompt_template']),
    config: jsonTree(entry.config),
    hash: entry.hash,
    yaml: lines(entry.text).map((line, i) => ({ number: i + 1, text: line })),
    problems: problemRows(
      definitions.problems.filter((problem) => problem.kind === 'LibraryStep' && problem.name === entry.name),
    ),
  };
}

/** The agents of all backends; a backend that is down is a line that says so, never an empty page. */
export function agentsView({ agents, errors }: AgentList, definitions: Definitions) {
  const uses = (name: string) =>
    definitions.pipelines.filter((pipeline) =>
      JSON.stringify(pipeline.config['steps'] ?? []).includes(`"agent":${JSON.stringify(name)}`),
    );
  return {
    rows: agents.map((agent) => ({
      name: agent.name,
      executor: agent.executor,
      model: agent.model ?? '–',
      users: uses(agent.name).map((pipeline) => ({ name: pipeline.name, href: paths.pipeline(pipeline.name) })),
    })),
    errors: Object.entries(errors).map(([backend, message]) => ({ backend, message })),
    count: plural(agents.length, 'agent'),
  };
}
