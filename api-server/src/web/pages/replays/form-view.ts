import type { BucketView } from '../../../service/views/analytics/calibration.ts';
import type { GoldenSetLine } from '../../../service/views/analytics/golden-set.ts';
import type { ReplayEstimate } from '../../../service/views/replay-estimate.ts';
import type { PromptVersionView } from '../../../service/views/analytics/versions.ts';
import { apiPath, type Call } from '../curl.ts';
import { count, money, shorten } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { bucketOf, bucketValue, candidateIn, type Entered, launchOf, setIdIn } from './form.ts';
import { templateDiff } from './template-diff.ts';

export interface FormInput {
  entered: Entered;
  versions: readonly PromptVersionView[];
  buckets: readonly BucketView[];
  sets: readonly GoldenSetLine[];
  /** `<executor>:<agent>`. */
  safeAgents: readonly string[];
  models: readonly string[];
  estimate: ReplayEstimate | null;
  /** Why it would not start. */
  problem: string | null;
  operator: boolean;
  /** Of the launch. */
  key: string;
  currency: string;
}

/** The edition that the chosen executions were asked with; the one used last where that is not known. */
function recordedVersion(entered: Entered, versions: readonly PromptVersionView[]): PromptVersionView | null {
  const hash = bucketOf(entered)?.prompt_hash;
  const [last] = versions.toSorted((a, b) => b.last_seen_at.localeCompare(a.last_seen_at));
  return versions.find(({ prompt_hash }) => prompt_hash === hash) ?? last ?? null;
}

/** A template that stands in the form as it was put there follows the executions that are chosen. */
export function unlessUntouched(entered: Entered, versions: readonly PromptVersionView[]): Entered {
  const begun = versions.find(({ prompt_hash }) => prompt_hash === entered.begun)?.template ?? null;
  return entered.prompt !== null && entered.prompt === begun ? { ...entered, prompt: null } : entered;
}

export const recordedTemplate = (entered: Entered, versions: readonly PromptVersionView[]): string | null =>
  recordedVersion(entered, versions)?.template ?? null;

/** Pipelines may ask steps of one name with templates of their own. */
function templateWords(version: PromptVersionView | null): string | null {
  if (version === null || version.template === null) return null;
  const { pipelines, prompt_hash: hash } = version;
  const of =
    pipelines.length === 0
      ? ''
      : ` of ${pipelines.length === 1 ? 'pipeline' : 'pipelines'} ${shorten(pipelines.join(', '), 120)}`;
  return `The recorded template is that${of} (prompt ${hash}).`;
}

export function replayFormView(input: FormInput) {
  const { entered, sets, safeAgents, models } = input;
  const recorded = recordedTemplate(entered, input.versions);
  return {
    list: paths.replays(),
    stepHref: paths.step(entered.step),
    action: paths.replayNew(),
    step: entered.step,
    off: safeAgents.length === 0,
    operator: input.operator,
    key: input.key,
    problem: input.problem,
    startable: input.estimate !== null && samplesOf(input, input.estimate) > 0,
    samples: sampleOptions(input),
    k: entered.k,
    model: entered.model,
    models,
    agents: [...new Set(safeAgents.map((name) => name.replace(/^[^:]*:/, '')))].map((agent) => ({
      value: agent,
      selected: agent === entered.agent,
    })),
    modes: MODES.map((mode) => ({ ...mode, selected: mode.value === entered.mode })),
    prompt: entered.prompt ?? recorded ?? '',
    noTemplate: recorded === null,
    begun: recordedVersion(entered, input.versions)?.prompt_hash ?? '',
    templateOf: templateWords(recordedVersion(entered, input.versions)),
    estimate: estimateWords(input),
    diff: promptDiff(entered, recorded),
    noSets: sets.length === 0,
    command: commandOf(entered, recorded),
  };
}

/** What starts the replay as it was entered; null where it would not start. */
function commandOf(entered: Entered, recorded: string | null): Call | null {
  const label = 'Copy as curl';
  const set = setIdIn(entered);
  const candidate = candidateIn(entered, recorded);
  if (set !== null) return { label, path: apiPath('golden-sets', set, 'replay'), body: { candidate } };
  const launch = launchOf(entered, recorded);
  return launch.ok ? { label, path: apiPath('steps', entered.step, 'replay', 'start'), body: launch.body } : null;
}

const MODES = [
  { value: 'rendered', label: 'Send the recorded prompt again, word for word' },
  { value: 'rerender', label: 'Render the template again with the recorded values' },
];

function sampleOptions({ entered, buckets, sets }: FormInput) {
  const options = [
    { value: 'current', label: 'Newest configuration in production' },
    ...buckets.map((bucket) => ({ value: bucketValue(bucket), label: bucketWords(bucket) })),
    ...sets.map(({ id, name, members }) => ({
      value: `set:${id}`,
      label: `Golden set ${name}, ${plural(members, 'member')}`,
    })),
  ];
  return options.map((option) => ({ ...option, selected: option.value === entered.samples }));
}

function bucketWords({ agent, model, prompt_hash: prompt, agent_version: version, total_n: n }: BucketView): string {
  const parts = [agent, model, prompt && `prompt ${prompt}`, version && `version ${version}`, `${count(n)} marked`];
  return parts.filter(Boolean).join(' · ');
}

export const NO_CHANGE = 'Nothing is changed: the same configuration is asked again.';

const NO_SAMPLES = 'No execution of these is marked. Mark some answers of this step, or choose other executions above.';

const samplesOf = ({ entered, sets }: Pick<FormInput, 'entered' | 'sets'>, estimate: ReplayEstimate): number =>
  sets.find(({ id }) => id === setIdIn(entered))?.members ?? estimate.sample_count;

/** The line beside the number of samples. */
function estimateWords({ estimate, entered, sets, currency, versions }: FormInput) {
  if (estimate === null) return null;
  const n = samplesOf({ entered, sets }, estimate);
  if (n === 0) return { amount: 'Nothing to replay', notes: NO_SAMPLES };
  const judge = estimate.judge?.total ?? 0;
  const notes = [
    `${plural(n, 'sample')}${tokenWords(estimate)}, from ${plural(estimate.basis_n, 'recorded call')}.`,
    judge > 0 ? `The judge adds ${money(judge, currency)}.` : '',
    estimate.per_sample === null ? 'No price is known for the model.' : '',
    Object.values(candidateIn(entered, recordedTemplate(entered, versions))).every((value) => value === null)
      ? NO_CHANGE
      : '',
  ];
  const amount =
    estimate.per_sample === null ? 'Cost unknown' : `About ${money(estimate.per_sample * n + judge, currency)}`;
  return { amount, notes: notes.filter(Boolean).join(' ') };
}

const tokenWords = ({ mean_input_tokens: input, mean_output_tokens: output }: ReplayEstimate): string =>
  input === null ? '' : `, about ${count(Math.round(input))} tokens in and ${count(Math.round(output ?? 0))} out each`;

/** The changed template beside the recorded one. */
const promptDiff = (entered: Entered, recorded: string | null) =>
  templateDiff(recorded, candidateIn(entered, recorded).prompt_template);
