import { z } from 'zod';
import { DefinitionName } from '../names.ts';

/** Limits of a definition that the documentation names. */
export const LIMITS = {
  entries: 64,
  branches: 16,
  fanOutItems: 200,
  fanOutParallel: 50,
  subPipelineDepth: 5,
  /** Below one run, at all levels together. */
  subRuns: 2_000,
  templateChars: 64 * 1024,
  /** Of a `concurrency.key`: those of many pipelines are compiled when one delivery comes. */
  keyChars: 1024,
  expressionChars: 4096,
  matchRules: 64,
  stepSeconds: 86_400,
  runSeconds: 604_800,
} as const;

export const Text = z.string().max(4096);
export const TemplateText = z.string().max(LIMITS.templateChars);
export const ExpressionText = z.string().min(1).max(LIMITS.expressionChars);
/** What becomes of a step whose texts use values that do not exist. */
export const OnMissingValue = z
  .enum(['warn', 'fail'])
  .describe('a text uses a value that does not exist: warn (it goes out with a blank) or fail (nothing is called)');

export const Ratio = z.number().min(0).max(1);
export const Tags = z.array(z.string().min(1).max(64)).max(32);
/** Rules as in `trigger.match`. What a rule may say is checked where it is compiled. */
export const MatchRules = z
  .record(z.string().min(1).max(256), z.unknown())
  .refine((rules) => Object.keys(rules).length <= LIMITS.matchRules, `may have at most ${LIMITS.matchRules} keys`)
  .meta({ maxProperties: LIMITS.matchRules });
export const JsonObject = z.record(z.string(), z.unknown());

/** Whole seconds a step may take. */
export const StepSeconds = z.number().int().min(1).max(LIMITS.stepSeconds);
/** Whole seconds a run, or a wait for a human, may take. */
export const RunSeconds = z.number().int().min(1).max(LIMITS.runSeconds);

/** A URL as written: it may hold templates and `${ENV}`, so only its length is checked here. */
export const UrlTemplate = z.string().min(1).max(2048);
export const Headers = z.record(
  z.string().regex(/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}$/, 'is not a valid header name'),
  z.string().max(8192),
);
export const Method = z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']);
/** A request body: `${ENV}` and templates are expanded in its strings only. */
export const Payload = z.union([JsonObject, z.array(z.unknown()), z.string()]);

export const AgentName = DefinitionName;
export const Model = z.string().min(1).max(200);
export const Severity = z.string().min(1).max(64);
export const Labels = z.record(z.string().min(1).max(256), z.string().max(4096));
