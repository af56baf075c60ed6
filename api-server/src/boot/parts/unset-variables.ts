import type { Problem, ResolvedPipeline } from '@signalbox/crds';
import type { PipelineEnv } from '../../runs/prompt/rendering.ts';

const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Keys whose texts may name variables. */
const READ: ReadonlySet<string | number> = new Set(['url', 'headers', 'payload', 'notifications']);

/** Variables that a pipeline names and the environment of the service leaves empty, as warnings at load. */
export function unsetVariables({ name, file, config }: ResolvedPipeline, env: Pick<PipelineEnv, 'valueOf'>): Problem[] {
  return textsIn(config, []).flatMap(({ text, loc }) => {
    const names = new Set([...text.matchAll(VARIABLE)].map(([, variable]) => variable ?? ''));
    return [...names]
      .filter((variable) => env.valueOf(variable) === '')
      .map((variable): Problem => {
        const msg = `\${${variable}} is not set in the environment of the api-server: set it and restart, or this fails when it runs`;
        return { severity: 'warning', kind: 'Pipeline', name, file, loc, msg, reason: 'invalid' };
      });
  });
}

type Loc = (string | number)[];

function textsIn(value: unknown, loc: Loc): { text: string; loc: Loc }[] {
  if (typeof value === 'string') return loc.some((key) => READ.has(key)) ? [{ text: value, loc }] : [];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, child]) =>
    textsIn(child, [...loc, Array.isArray(value) ? Number(key) : key]),
  );
}
