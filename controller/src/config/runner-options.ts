/** How pods of agents are made; see `--help`. */
export interface RunnerOptions {
  image: string;
  pullPolicy: 'Always' | 'IfNotPresent' | 'Never';
  pullSecrets: string[];
  /** Null is the namespace of the manager. */
  gatewayNamespace: string | null;
  gatewayLabels: Record<string, string>;
}

export const RUNNER_FLAGS = {
  'runner-image': { type: 'string' },
  'runner-pull-policy': { type: 'string' },
  'runner-pull-secrets': { type: 'string' },
  'gateway-namespace': { type: 'string' },
  'gateway-labels': { type: 'string' },
} as const;

type Values = Partial<Record<keyof typeof RUNNER_FLAGS, string>>;

const PULL_POLICIES: readonly string[] = ['Always', 'IfNotPresent', 'Never'] satisfies RunnerOptions['pullPolicy'][];
const GATEWAY_LABELS = 'app.kubernetes.io/name=signalbox,app.kubernetes.io/component=gateway';
const LABEL = /^[A-Za-z0-9][\w./-]*=[\w.-]*$/;

const isPullPolicy = (word: string): word is RunnerOptions['pullPolicy'] => PULL_POLICIES.includes(word);

/** Those of a flag, separated by commas, each once. */
export const words = (text = ''): string[] => [
  ...new Set(
    text
      .split(',')
      .map((word) => word.trim())
      .filter(Boolean),
  ),
];

/** Null without an image: then agents get no pods. A string is the error. */
export function readRunnerOptions(values: Values): RunnerOptions | null | string {
  const { 'runner-image': image, 'runner-pull-policy': pullPolicy = 'IfNotPresent' } = values;
  const labels = words(values['gateway-labels'] ?? GATEWAY_LABELS);
  if (!isPullPolicy(pullPolicy)) return '--runner-pull-policy must be Always, IfNotPresent or Never';
  if (labels.length === 0 || !labels.every((label) => LABEL.test(label)))
    return '--gateway-labels must be key=value, separated by commas';
  if (!image) return null;
  return {
    image,
    pullPolicy,
    pullSecrets: words(values['runner-pull-secrets']),
    gatewayNamespace: values['gateway-namespace'] || null,
    gatewayLabels: Object.fromEntries(labels.map((label) => label.split('=') as [string, string])),
  };
}
