import { Cron } from 'croner';
import { isExpression, type Language, type Place } from './places.ts';
import { checkAnswerSchema } from '../language/answer.ts';
import { compileExpression } from '../language/expression.ts';
import { compileJsonSchema } from '../language/json-schema.ts';
import type { Finding } from '../problem.ts';
import { patternsOfSchema } from '../language/json-schema-size.ts';
import { patternRoom, type PatternRoom, roomProblem } from '../language/pattern-room.ts';
import { compileTemplate } from '../language/template.ts';

export interface LanguageOptions {
  sandbox: boolean;
  /** Names a pipeline may take from the service's environment; null when that is not known here. */
  pipelineEnv: ReadonlySet<string> | null;
  /** Null when that is not known here. */
  allowShell: boolean | null;
}

/** Compiles every expression, template and schema of a definition at load, so that a mistake is found before an alert needs it. */
export function checkPlaces(places: readonly Place[], options: LanguageOptions): Finding[] {
  const room = patternRoom();
  return places.flatMap((place) => checkPlace(place, options, room));
}

function checkPlace({ language, value, loc }: Place, options: LanguageOptions, room: PatternRoom): Finding[] {
  if (isExpression(language)) return problem(compileExpression(String(value), room), loc);
  const tooMuch = language === 'json_schema' ? roomProblem(room, patternsOfSchema(value)) : null;
  if (tooMuch !== null) return [{ loc, msg: tooMuch }];
  const check = CHECKS[language];
  return check({ language, value, loc }, options);
}

const CHECKS: Record<Exclude<Language, 'cel'>, (place: Place, options: LanguageOptions) => Finding[]> = {
  template: ({ value, loc }, { sandbox }) => problem(compileTemplate(String(value), { sandbox }), loc),
  template_env: ({ value, loc }, options) => [
    ...problem(compileTemplate(String(value), options), loc),
    ...environment(String(value), loc, options),
  ],
  env: ({ value, loc }, options) => environment(String(value), loc, options),
  json_schema: ({ value, loc }) => {
    const compiled = compileJsonSchema(value);
    return problem(compiled.ok ? checkAnswerSchema(value) : compiled, loc);
  },
  shell: ({ loc }, { allowShell }) =>
    allowShell === false
      ? [
          {
            severity: 'warning',
            loc,
            reason: 'shell_not_allowed',
            msg: 'shell checks are not allowed here (security.allow_shell_checks)',
          },
        ]
      : [],
  cron: ({ value, loc }) => checkCron(String(value), loc),
  timezone: ({ value, loc }) => checkTimezone(String(value), loc),
};

function problem(compiled: { ok: true } | { ok: false; msg: string }, loc: Finding['loc']): Finding[] {
  return compiled.ok ? [] : [{ loc, msg: compiled.msg }];
}

const ENV = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;

function environment(text: string, loc: Finding['loc'], { pipelineEnv }: LanguageOptions): Finding[] {
  if (!pipelineEnv) return [];
  const names = new Set([...text.matchAll(ENV)].map(([, name]) => name ?? ''));
  return [...names]
    .filter((name) => !pipelineEnv.has(name))
    .map((name) => ({
      severity: 'warning',
      loc,
      reason: 'env_not_allowed',
      msg: `\${${name}} is not in security.pipeline_env`,
    }));
}

function checkCron(pattern: string, loc: Finding['loc']): Finding[] {
  try {
    const cron = new Cron(pattern, { mode: '5-part', paused: true });
    return cron.nextRun() === null ? [{ loc, msg: 'never fires' }] : [];
  } catch (error) {
    return [{ loc, msg: `invalid cron expression: ${error instanceof Error ? error.message : 'cannot be read'}` }];
  }
}

function checkTimezone(timezone: string, loc: Finding['loc']): Finding[] {
  try {
    Intl.DateTimeFormat('en', { timeZone: timezone });
    return [];
  } catch {
    return [{ loc, msg: `unknown timezone "${timezone}"` }];
  }
}
