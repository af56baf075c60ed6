import { agentsOfPipeline, type LibraryStep, type Pipeline } from '@signalbox/crds';
import { ago, exactTime, hashStart } from '../format.ts';
import type { AgentList, DefinitionProblem } from '../../../service/views/definition.ts';
import { listedProblems, perSnapshot, type Snapshot } from '../../../service/definitions/definitions.ts';
import type { PipelineStatistics } from '../../../service/views/analytics/statistics.ts';
import { summaryOf } from '../insights/summary.ts';
import { paths } from '../paths.ts';
import { portionOf } from '../portion.ts';
import type { Layout } from '../run/graph/layout.ts';
import { asksAgent, singleSteps } from '../replays/chain-form.ts';
import { pipelineSteps } from './places.ts';
import { jsonTree } from '../run/step/json-tree.ts';
import type { RunRow } from '../runs/row.ts';
import { plural } from '../runs/row.ts';
import { budgetText, concurrencyFact, scheduleLine } from './limits.ts';
import { runBars } from './run-bars.ts';
import { ruleText } from './rule-text.ts';
import { definitionGraph } from './graph.ts';
import { shapesLine, stepLines } from './shapes.ts';
import { usesOf } from './uses.ts';
import { yamlLines } from './yaml/yaml-lines.ts';

type LoadedPipeline = Snapshot['pipelines'][number];
type LoadedStep = Snapshot['steps'][number];

/** Problems of the last load, errors first, each with its position in the file. */
export const problemRows = (problems: DefinitionProblem[]) =>
  problems
    .toSorted((a, b) => a.severity.localeCompare(b.severity))
    .map((problem) => ({
      tone: problem.severity === 'error' ? 'bad' : 'wait',
      icon: problem.severity === 'error' ? 'failed' : 'alert',
      word: problem.severity === 'error' ? 'Error' : 'Warning',
      file: problem.file,
      subject: [problem.kind, problem.name].filter((part) => part !== null).join(' '),
      place: [problem.line, problem.col].filter((part) => part !== undefined).join(':'),
      loc: problem.loc.join('.'),
      msg: messageOf(problem),
    }));

/** A message that says something of a key begins with the key: `prompt_template is required`. */
export const messageOf = ({ loc, msg }: Pick<DefinitionProblem, 'loc' | 'msg'>): string =>
  /^(is|must|has|needs) /.test(msg) && typeof loc.at(-1) === 'string' ? `${loc.at(-1)} ${msg}` : msg;

/** Problems by file, with the state of a file that has an error. */
function problemFiles(
  { pipelines, steps, problems, shown }: Snapshot,
  chosen: (problem: DefinitionProblem) => boolean,
) {
  const files = new Set([...pipelines, ...steps].map(({ file }) => file));
  const served = new Set(shown.filter((_, at) => files.has(problems[at]?.file ?? '')).map(({ file }) => file));
  const { errors, warnings } = listedProblems(shown.filter(chosen));
  return [...Map.groupBy(problemRows([...errors, ...warnings]), ({ file }) => file)].map(([file, rows]) => {
    const broken = rows.some(({ tone }) => tone === 'bad');
    return { file, rows, state: broken ? (served.has(file) ? KEPT : LEFT_OUT) : null };
  });
}

const KEPT = 'The last version that loaded stays active until the error is fixed.';
const LEFT_OUT = 'Nothing in this file is active until the error is fixed.';

const ofKind = (kind: string) => (problem: DefinitionProblem) => problem.kind === kind || problem.kind === null;
/** What is wrong with a pipeline that is loaded. */
export const pipelineProblems = (definitions: Snapshot, name: string) =>
  problemFiles(definitions, of('Pipeline', name));

const of = (kind: string, name: string) => (problem: DefinitionProblem) =>
  problem.kind === kind && problem.name === name;

function matchText(match: object | undefined): string {
  if (match === undefined) return 'Only when named';
  const entries = Object.entries(match);
  if (entries.length === 0) return 'Everything';
  return entries.map(([key, value]) => `${key} ${ruleText(value)}`).join(', ');
}

/** What starts the pipeline, apart from a delivery that names it. */
function startText({ trigger, schedule }: Pipeline): string {
  const match = trigger?.match;
  return match === undefined && schedule !== undefined ? 'On schedule, or when named' : matchText(match);
}

const pipelineRow = ({ name, config }: LoadedPipeline) => ({
  name,
  href: paths.pipeline(name),
  description: config.description,
  testing: config.stage !== 'production',
  suspended: config.suspend,
  version: String(config.version ?? ''),
  shape: shapesLine(config.steps),
  schedule: scheduleLine(config),
  trigger: startText(config),
  tags: config.tags,
});

const loadedLine = (definitions: Snapshot, now: number) =>
  `Loaded ${ago(new Date(definitions.loadedAt).toISOString(), now)}`;

/** Definitions on one page of a list. */
const PIPELINES_A_PAGE = 150;
const STEPS_A_PAGE = 60;
const USERS_NAMED = 8;

export function pipelinesOn({ pipelines }: Snapshot, page: number) {
  const goTo = (number: number) => paths.pipelines({ page: number });
  return portionOf(pipelines, { page, size: PIPELINES_A_PAGE, goTo });
}

interface Listed {
  page: number;
  /** The statuses of the last runs by pipeline; null while they cannot be read. */
  last: ReadonlyMap<string, readonly string[]> | null;
}

export function pipelinesView(definitions: Snapshot, now: number, { page, last }: Listed = { page: 1, last: null }) {
  const { rows, pager } = pipelinesOn(definitions, page);
  return {
    rows: rows.map((entry) => ({ ...pipelineRow(entry), last: runBars(last?.get(entry.name) ?? []) })),
    pager,
    problems: problemFiles(definitions, ofKind('Pipeline')),
    reload: paths.reload(),
    commands: [{ label: 'Reload', path: '/reload' }],
    validate: paths.validate(),
    count: plural(definitions.pipelines.length, 'pipeline'),
    loaded: loadedLine(definitions, now),
    exact: exactTime(new Date(definitions.loadedAt).toISOString()),
  };
}

function dedupText(dedup: NonNullable<Pipeline['trigger']>['dedup']): string {
  if (dedup?.enabled === false) return 'off';
  return dedup?.window_seconds === undefined ? 'service default' : `${dedup.window_seconds} s`;
}

/** Runs that stand as rows; the strip has all. */
const SHOWN_RUNS = 5;

const stripMark = ({ id, status, summary, duration, age, href }: RunRow) => ({
  id,
  href,
  look: status,
  title: [status.word, `${age} ago`, duration, summary].filter(Boolean).join(', '),
});

/** What the page shows beside the definition. */
interface Around {
  /** The last runs, newest first. */
  rows: RunRow[];
  layout: Layout;
  currency: string;
  /** Null while they take too long. */
  stats: PipelineStatistics | null;
}

/** One pipeline: what starts it, its steps, its text, its problems and its last runs. */
export function pipelineView(entry: LoadedPipeline, definitions: Snapshot, { rows, currency, stats, layout }: Around) {
  const { config } = entry;
  return {
    ...pipelineRow(entry),
    hash: hashStart(entry.hash),
    listPath: paths.pipelines(),
    runsPath: paths.runs({ pipeline: entry.name }),
    replay: singleSteps(config).some(asksAgent) ? paths.replayRange({ pipeline: entry.name }) : null,
    facts: [
      { label: 'Version', value: String(config.version ?? '–') },
      { label: 'Matches', value: matchText(config.trigger?.match) },
      { label: 'Dedup', value: dedupText(config.trigger?.dedup) },
      {
        label: 'Schedule',
        value: scheduleLine(config) || '–',
        title: config.schedule ? `${config.schedule.cron} ${config.schedule.timezone}` : '',
      },
      { label: 'At a time', ...concurrencyFact(config.concurrency) },
      { label: 'Budget of a run', value: budgetText(config.budget, currency) },
      { label: 'File', value: entry.file.split('/').at(-1) ?? entry.file, title: entry.file },
    ].map((fact) => ({ title: '', ...fact })),
    entries: stepLines(config.steps),
    yaml: yamlLines(entry.text),
    problems: pipelineProblems(definitions, entry.name),
    summary: summaryOf(stats, 'runs'),
    graph: definitionGraph(config, layout),
    uses: usesOf(entry, definitions),
    strip: rows.map(stripMark).toReversed(),
    rows: rows.slice(0, SHOWN_RUNS),
    list: paths.pipeline(entry.name),
  };
}

const stepRow = ({ name, config }: LoadedStep) => ({
  name,
  href: paths.step(name),
  description: config.description,
  executor: config.executor,
  agent: 'agent' in config ? config.agent : '',
  tags: config.tags,
});

const promptOf = (config: LibraryStep): string => ('prompt_template' in config ? (config.prompt_template ?? '') : '');

const usersOf = (name: string, definitions: Snapshot) =>
  definitions.pipelines
    .filter((pipeline) => pipeline.uses.includes(name))
    .map((pipeline) => ({ name: pipeline.name, href: paths.pipeline(pipeline.name) }));

const someUsers = <T>(users: readonly T[]) => ({
  users: users.slice(0, USERS_NAMED),
  moreUsers: Math.max(0, users.length - USERS_NAMED),
});

/** Library steps and steps of pipelines, as many of both. */
export function stepsView(definitions: Snapshot, now: number, page = 1) {
  const asked = { page, size: STEPS_A_PAGE, goTo: (number: number) => paths.steps({ page: number }) };
  const library = portionOf(definitions.steps, asked);
  const own = portionOf(pipelineSteps(definitions), asked);
  return {
    rows: library.rows.map((step) => ({ ...stepRow(step), users: usersOf(step.name, definitions).length })),
    inPipelines: own.rows.map(({ users, ...step }) => ({ ...step, ...someUsers(users) })),
    pager: definitions.steps.length > own.total ? library.pager : own.pager,
    problems: problemFiles(definitions, ofKind('LibraryStep')),
    count: plural(definitions.steps.length, 'library step'),
    loaded: loadedLine(definitions, now),
    exact: exactTime(new Date(definitions.loadedAt).toISOString()),
  };
}

export function stepView(entry: LoadedStep, definitions: Snapshot) {
  return {
    ...stepRow(entry),
    listPath: paths.steps(),
    users: usersOf(entry.name, definitions),
    prompt: promptOf(entry.config),
    config: jsonTree(entry.config),
    hash: hashStart(entry.hash),
    yaml: yamlLines(entry.text),
    problems: problemFiles(definitions, of('LibraryStep', entry.name)),
  };
}

const agentKey = (executor: string, agent: string) => `${executor}:${agent}`;

/** Pipelines by each agent that their steps, verifiers and judges name. */
const agentUsers = perSnapshot(({ pipelines }) => {
  const users = new Map<string, { name: string; href: string }[]>();
  for (const { name, config } of pipelines) {
    const user = { name, href: paths.pipeline(name) };
    const named = new Set(agentsOfPipeline(config).map(({ executor, agent }) => agentKey(executor, agent)));
    for (const key of named) {
      const known = users.get(key);
      if (known) known.push(user);
      else users.set(key, [user]);
    }
  }
  return users;
});

const backendProblem = (backend: string, message: string, answers: boolean) => ({
  title: answers ? `The ${backend} backend lists too many agents.` : `The ${backend} backend does not answer.`,
  message,
  next: answers
    ? 'The others are missing below; steps may ask them all the same.'
    : 'Its agents are missing below; steps that need them fail until it is back.',
});

/** The agents of all backends, with an error line for a backend that is down or lists too many. */
export function agentsView({ agents, errors }: AgentList, definitions: Snapshot) {
  const users = agentUsers(definitions);
  const answering = new Set(agents.map(({ executor }) => executor));
  return {
    rows: agents.map((agent) => ({
      name: agent.name,
      href: agent.executor === 'gateway' ? paths.agent(agent.name) : null,
      executor: agent.executor,
      model: agent.model ?? '–',
      warnings: agent.warnings ?? [],
      ...someUsers(users.get(agentKey(agent.executor, agent.name)) ?? []),
    })),
    errors: Object.entries(errors).map(([backend, message]) =>
      backendProblem(backend, message, answering.has(backend)),
    ),
    count: plural(agents.length, 'agent'),
  };
}
