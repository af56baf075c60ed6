import type { Problem, ResolvedPipeline } from '@signalbox/crds';
import type { PipelineEnv } from '../../runs/prompt/rendering.ts';

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Keys whose texts may name variables. */
const READ: ReadonlySet<string | number> = new Set(['url', 'headers', 'payload', 'notifications']);

/** Variables that a pipeline names and the environment of the service leaves empty, as warnings at load. */
export function* unsetVariables(
  { name, file, config }: ResolvedPipeline,
  env: Pick<PipelineEnv, 'valueOf'>,
): Generator<Problem> {
  for (const { text, loc } of textsIn(config, [])) {
    const names = new Set([...text.matchAll(VARIABLE)].map(([, variable]) => variable ?? ''));
    for (const variable of names) {
      if (env.valueOf(variable) !== '') continue;
      const msg = `\${${variable}} is not set in the environment of the api-server: set it and restart, or this fails when it runs`;
      yield { severity: 'warning', kind: 'Pipeline', name, file, loc, msg, reason: 'invalid' };
    }
  }
}

type Loc = (string | number)[];

function* textsIn(value: unknown, loc: Loc): Generator<{ text: string; loc: Loc }> {
  if (typeof value === 'string' && value.includes('${') && loc.some((key) => READ.has(key))) yield { text: value, loc };
  if (typeof value !== 'object' || value === null) return;
  for (const [key, child] of Object.entries(value))
    yield* textsIn(child, [...loc, Array.isArray(value) ? Number(key) : key]);
}
