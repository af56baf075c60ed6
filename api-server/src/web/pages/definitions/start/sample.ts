import type { Pipeline } from '@signalbox/crds';

type Match = NonNullable<NonNullable<Pipeline['trigger']>['match']>;

/** Keys of a rule that are no label of an alert. */
const NO_LABELS: ReadonlySet<string> = new Set(['source', 'summary', 'pipeline', 'fingerprint', 'team']);
const MAP = /^(labels|annotations|metadata)\.(.+)$/;

/** An Alertmanager payload that the rules of a pipeline let through, as far as a value can be derived from them. */
export function sampleAlert(match: Match) {
  const labels: Record<string, string> = { alertname: 'SampleAlert', severity: 'warning', instance: 'host-1:9100' };
  const annotations: Record<string, string> = { summary: 'A sample alert, started by hand' };
  for (const [key, rule] of Object.entries(match)) {
    const value = valueFor(rule);
    const [, map, name] = MAP.exec(key) ?? [null, 'labels', key];
    if (value === null || map === 'metadata' || NO_LABELS.has(key)) continue;
    (map === 'annotations' ? annotations : labels)[name] = value;
  }
  return {
    version: '4',
    status: 'firing',
    receiver: 'signalbox',
    groupLabels: { alertname: labels['alertname'] },
    commonLabels: labels,
    commonAnnotations: annotations,
    alerts: [{ status: 'firing', labels, annotations, startsAt: '2026-01-01T00:00:00Z' }],
  };
}

/** A value for which a rule holds; null where none can be derived. */
function valueFor(rule: unknown): string | null {
  if (typeof rule !== 'object' || rule === null) return rule === null ? null : String(rule);
  const [[operator, operand] = ['', null]] = Object.entries(rule);
  switch (operator) {
    case 'eq':
    case 'gte':
    case 'lte':
      return String(operand);
    case 'gt':
      return String(Number(operand) + 1);
    case 'lt':
      return String(Number(operand) - 1);
    case 'in':
      return Array.isArray(operand) && operand.length > 0 ? String(operand[0]) : null;
    case 'regex':
      return fromPattern(String(operand));
    default:
      return null;
  }
}

/** A text for simple patterns: the first of alternatives, without anchors; null for others. */
function fromPattern(pattern: string): string | null {
  const text = pattern
    .replaceAll(/\((?:\?:)?([^()|]*)(?:\|[^()]*)?\)/g, '$1')
    .replaceAll(/^\^|\$$|\.\*/g, '')
    .replaceAll(/\\([.-])/g, '$1');
  const [first = ''] = text.split('|');
  return /^[\w .:/-]+$/.test(first) ? first : null;
}
