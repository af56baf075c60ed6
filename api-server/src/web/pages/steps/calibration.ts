import type { CalibrationRule } from '../../../service/views/analytics/calibration.ts';
import type { BucketView } from '../../../service/views/analytics/calibration.ts';
import { count } from '../format.ts';
import { bucketLink } from '../replays/form.ts';
import { paths } from '../paths.ts';
import { diagram } from './diagram.ts';

/** Buckets that are shown expanded, and all that are shown: those with the most marks. */
const MOST_OPEN = 4;
const MOST = 20;

/** The calibration of a step, a diagram for each bucket. */
export function calibrationView(step: string, buckets: readonly BucketView[], { nMin, binWidth }: CalibrationRule) {
  const cards = buckets
    .slice(0, MOST)
    .map((bucket) => card(bucket, nMin))
    .map((one, at) => ({
      ...one,
      replay: paths.replayNew({ step, ...bucketLink(buckets[at] ?? {}) }),
    }));
  return {
    open: cards.slice(0, MOST_OPEN),
    folded: cards.slice(MOST_OPEN),
    more: `${Math.max(0, cards.length - MOST_OPEN)} more, with fewer marks`,
    left: buckets.length > MOST ? `${buckets.length - MOST} more` : null,
    nMin,
    binWidth,
    runs: paths.runs({ stage: 'production', status: 'completed' }),
  };
}

function card(bucket: BucketView, nMin: number) {
  const { agent, agent_version: agentVersion, prompt_hash: promptHash, provider, model, recommendation } = bucket;
  return {
    agent: agent ?? 'No agent',
    model: [provider, model].filter((part) => part !== null).join(' / ') || null,
    promptHash,
    promptHref: promptHash && `#prompt-${encodeURIComponent(promptHash)}`,
    agentVersion,
    agentHref: agent && agentVersion && `${paths.agent(agent)}#version-${encodeURIComponent(agentVersion)}`,
    marked: `${count(bucket.total_n)} marked`,
    pooled: bucket.pipelines.length > 1 ? pooledText(bucket.pipelines) : null,
    diagram: diagram(bucket.bins),
    ...verdict(bucket, recommendation, nMin),
  };
}

/** Named up to this number. */
const MOST_NAMED = 5;

/** Several pipelines that ask the same agent the same are measured together. */
function pooledText(pipelines: readonly string[]): string {
  const named = pipelines.slice(0, MOST_NAMED).join(', ');
  const more = pipelines.length - MOST_NAMED;
  return `Marks of ${pipelines.length} pipelines together: ${named}${more > 0 ? ` and ${more} more` : ''}.`;
}

/** The recommendation, or the state of the bucket without one. */
function verdict({ bins }: BucketView, recommendation: string | null, nMin: number) {
  if (recommendation !== null) return { sentence: recommendation, tone: 'wait', icon: 'alert' };
  if (bins.some(({ validated }) => validated))
    return {
      sentence: 'Where there are enough marks, the confidence holds what it says.',
      tone: 'good',
      icon: 'check',
    };
  const fullest = Math.max(0, ...bins.map(({ n }) => n));
  const sentence = `Too few marks to tell: the fullest bin has ${fullest} of the ${nMin} that it needs.`;
  return { sentence, tone: 'quiet', icon: 'info' };
}
