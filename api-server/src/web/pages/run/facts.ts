import { count, duration, exactTime, score, secondsBetween } from '../format.ts';
import { paths } from '../paths.ts';
import { costCell } from '../runs/row.ts';
import { isActive } from '../status.ts';
import type { ShownRun } from './step/shown-step.ts';

const PLAIN = {
  href: null as string | null,
  title: '',
  mono: false,
  /** Tabular figures, so that a growing number does not move the line. */
  figure: false,
  since: null as string | null,
};
type Fact = typeof PLAIN & { label: string; value: string };
type FactInput = Partial<Fact> & Pick<Fact, 'label' | 'value'>;

const link = (label: string, id: string | null | undefined): FactInput[] =>
  id === null || id === undefined
    ? []
    : [{ label, value: `…${id.slice(-8)}`, href: paths.run(id), mono: true, title: id }];

function costFact({ cost, unpriced_steps }: ShownRun['totals'], currency: string): FactInput {
  const cell = costCell(cost, unpriced_steps, currency);
  const value = cell.unpriced && unpriced_steps > 0 ? 'unpriced' : cell.text;
  return { label: 'Cost', figure: true, value, title: cell.title };
}

const cachedPart = ({ cached_input_tokens: cached }: ShownRun['totals']): string =>
  cached === null ? '' : ` (${count(cached)} cached)`;

/** How many warnings there are, what they say, and the first step that has some. */
function warningsFact({ id, warning_count: value, steps }: ShownRun): FactInput {
  const warned = steps.filter(({ trust_report: report }) => (report?.warnings ?? []).length > 0);
  const said = warned.flatMap(({ step_name: name, trust_report: report }) =>
    (report?.warnings ?? []).map(({ message }) => `${name}: ${message}`),
  );
  const href = warned[0] === undefined ? null : paths.run(id, { step: warned[0].step_name });
  return { label: 'Warnings', figure: true, value: count(value), title: said.slice(0, MOST_SAID).join('\n'), href };
}

const MOST_SAID = 10;

/** The facts of a run in one row. */
export function runFacts(run: ShownRun, at: { now: number; currency: string }): Fact[] {
  const active = isActive(run.status);
  const tokens = run.totals.input_tokens + run.totals.output_tokens;
  const facts: FactInput[] = [
    { label: 'Pipeline', value: run.pipeline_name, href: paths.pipeline(run.pipeline_name) },
    { label: 'Stage', value: run.stage },
    { label: 'Severity', value: run.severity ?? '–' },
    {
      label: 'Trust',
      figure: true,
      value:
        run.trust === null
          ? '–'
          : run.threshold === null
            ? score(run.trust)
            : `${score(run.trust, run.threshold)}, needs ${score(run.threshold)}`,
      title: 'Trust of the last gate and its threshold',
    },
    {
      label: 'Duration',
      figure: true,
      value: duration(secondsBetween(run.triggered_at, run.completed_at ?? at.now)),
      since: active ? run.triggered_at : null,
    },
    {
      label: 'Tokens',
      figure: true,
      value: tokens === 0 ? '–' : count(tokens),
      title: `${count(run.totals.input_tokens)} in${cachedPart(run.totals)}, ${count(run.totals.output_tokens)} out`,
    },
    costFact(run.totals, at.currency),
    ...(run.warning_count === 0 ? [] : [warningsFact(run)]),
    { label: 'Source', value: run.source },
    {
      label: 'Team',
      value: run.team ?? '–',
      title: run.team === null ? 'No team is stored for this run' : '',
    },
    { label: 'Triggered', value: exactTime(run.triggered_at) },
    ...link('Parent run', run.parent_run_id),
  ];
  return facts.map((fact) => ({ ...PLAIN, ...fact }));
}
