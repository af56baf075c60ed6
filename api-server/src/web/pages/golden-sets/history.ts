import type {
  RegressionLine,
  RegressionList,
  RegressionSchedule,
} from '../../../service/views/analytics/regression.ts';
import { exactTime, percent } from '../format.ts';
import { paths } from '../paths.ts';
import { plural } from '../runs/row.ts';
import { cronWords } from '../schedules/cron-words.ts';
import type { StatusLook } from '../status.ts';

/** How a replay by the clock ended: an icon, a word and a tone together. */
export function regressionLook({ status, alert }: Pick<RegressionLine, 'status' | 'alert'>): StatusLook {
  if (status === 'running') return { icon: 'running', word: 'Running', tone: 'live' };
  if (status === 'crashed') return { icon: 'failed', word: 'Crashed', tone: 'bad' };
  return alert === null
    ? { icon: 'completed', word: 'No alert', tone: 'good' }
    : { icon: 'alert', word: 'Alert', tone: 'bad' };
}

/** Replays that are listed before a click. */
const NEWEST = 7;

const EXAMPLE = (name: string, agents: readonly string[]) => `replay:
  safe_agents: ${JSON.stringify([...(agents.length > 0 ? agents : ['gateway:AGENT']), 'gateway:replay-judge']).replaceAll('","', '", "')}
  judge: {}
  regression:
    - golden_set: ${name}
      cron: "0 2 * * *"
      notify: {channel: slack, config: {channel: "#quality"}}`;

/** The replays of a set by the clock: its schedule, a chart, and a line each. */
export function historyView(name: string, { schedule, regressions }: RegressionList, agents: readonly string[]) {
  return {
    schedule: schedule && scheduleView(schedule),
    example: schedule === null ? EXAMPLE(name, agents) : '',
    chart: regressions.length > 1 ? chartView(regressions.toReversed()) : null,
    rows: regressions.slice(0, NEWEST).map(replayRow),
    older: regressions.slice(NEWEST).map(replayRow),
  };
}

const replayRow = (one: RegressionLine) => ({
  href: paths.regression(one.id),
  look: regressionLook(one),
  when: exactTime(one.fire_at),
  text: textOf(one),
  accuracy: percent(one.fresh_accuracy),
  baseline: baselineOf(one),
});

/** The baseline is of all members: nothing to compare the accuracy of a part of them with. */
const isWhole = ({ n_graded: graded, n_members: members }: RegressionLine): boolean => graded === members;

function baselineOf(one: RegressionLine): string {
  if (one.baseline_accuracy === null) return '';
  return isWhole(one)
    ? `baseline ${percent(one.baseline_accuracy)}`
    : `${one.n_graded ?? 0} of ${one.n_members} graded`;
}

const scheduleView = ({ cron, next_at: next, refused, judged }: RegressionSchedule) => ({
  words: cronWords(cron),
  cron,
  next: next === null ? '' : exactTime(next),
  refused,
  unjudged: !judged,
});

function textOf(line: RegressionLine): string {
  const { status, alert, error, n_members: members, n_improved: improved, n_graded: graded } = line;
  if (status === 'running') return `${plural(members, 'member')} are being replayed`;
  if (status === 'crashed') return error ?? 'did not come to its end';
  if (alert !== null) return alert;
  if (graded === 0) return 'no fresh answer has a label';
  return improved !== null && improved > 0 ? `${plural(improved, 'member')} improved` : 'nothing regressed';
}

/** Units of the drawing, which is stretched to the width of its card. */
const STEP = 10;
const BAR = 7;
const HEIGHT = 100;
/** With fewer replays the bars stay as narrow as with so many. */
const FULL = 12;
/** Nothing is less than visible. */
const LEAST = 2;

/** A line of 100% stands within the chart. */
const HIGHEST = 1;

/** A bar a replay, as high as its fresh accuracy, and the pinned baseline as a line above it. */
function chartView(oldestFirst: readonly RegressionLine[]) {
  const barWidth = round(BAR * Math.min(1, oldestFirst.length / FULL));
  const [first = '', last = ''] = [oldestFirst[0], oldestFirst.at(-1)].map((one) => one && exactTime(one.fire_at));
  const isOneDay = first.slice(0, 10) === last.slice(0, 10);
  return {
    width: oldestFirst.length * STEP,
    barWidth,
    first: isOneDay ? first : first.slice(0, 10),
    last: isOneDay ? last.slice(11) : last.slice(0, 10),
    bars: oldestFirst.map((one, at) => {
      const height = Math.max(LEAST, (one.fresh_accuracy ?? 0) * HEIGHT);
      const accuracy = one.fresh_accuracy === null ? 'no accuracy' : `fresh accuracy ${percent(one.fresh_accuracy)}`;
      return {
        href: paths.regression(one.id),
        title: `${exactTime(one.fire_at)}: ${regressionLook(one).word.toLowerCase()}, ${accuracy}`,
        look: one.fresh_accuracy === null ? 'quiet' : one.alert === null ? 'good' : 'bad',
        hitX: at * STEP,
        x: round(at * STEP + (STEP - barWidth) / 2),
        y: HEIGHT - height,
        height,
        baseline:
          one.baseline_accuracy === null || !isWhole(one)
            ? null
            : round(Math.max(HIGHEST, HEIGHT - one.baseline_accuracy * HEIGHT)),
        end: (at + 1) * STEP,
      };
    }),
  };
}

const round = (value: number): number => Math.round(value * 100) / 100;
