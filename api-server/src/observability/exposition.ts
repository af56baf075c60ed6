/** One value with its labels; `suffix` is `_bucket`, `_sum` or `_count` of a histogram. */
export interface Sample {
  suffix?: string;
  labels: readonly (readonly [name: string, value: string])[];
  value: number;
}

export interface Family {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  samples: Sample[];
}

/** The text exposition format, version 0.0.4 (Orchestration 6). */
export function renderFamilies(families: readonly Family[]): string {
  return families.map(renderFamily).join('');
}

const renderFamily = (family: Family): string =>
  renderHead(family) + family.samples.map((sample) => renderSample(family.name, sample)).join('');

export const renderHead = ({ name, help, type }: Pick<Family, 'name' | 'help' | 'type'>): string =>
  `# HELP ${name} ${help.replace(/[\\\n]/g, (sign) => (sign === '\n' ? '\\n' : '\\\\'))}\n# TYPE ${name} ${type}\n`;

export const renderSample = (name: string, { suffix = '', labels, value }: Sample): string =>
  `${name}${suffix}${renderLabels(labels)} ${renderValue(value)}\n`;

export function renderLabels(labels: Sample['labels']): string {
  if (labels.length === 0) return '';
  return `{${labels.map(([name, value]) => `${name}="${escapeLabel(value)}"`).join(',')}}`;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };
const escapeLabel = (value: string) => value.replace(/[\\"\n]/g, (sign) => ESCAPES[sign] as string);

function renderValue(value: number): string {
  if (Number.isFinite(value)) return String(value);
  return Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
}
