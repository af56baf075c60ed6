import { parseYaml } from '@signalbox/crds';
import { z } from 'zod';

const Condition = z.strictObject({
  value: z.string(),
  below: z.number().optional(),
  above: z.number().optional(),
  equals: z.union([z.string(), z.number(), z.boolean(), z.null()]).optional(),
  exists: z.boolean().optional(),
});
export type Condition = z.infer<typeof Condition>;

const Answer = z.record(z.string(), z.unknown());

export const DemoScript = z.strictObject({
  delay_ms: z.number().min(0).max(60_000).default(0),
  calls: z
    .array(z.strictObject({ tool: z.string().min(1), input: z.record(z.string(), z.unknown()).default({}) }))
    .max(20)
    .default([]),
  answers: z
    .array(z.strictObject({ when: Condition.optional(), answer: Answer }))
    .max(50)
    .default([]),
  answer: Answer.optional(),
});
export type DemoScript = z.infer<typeof DemoScript>;

export type FoundScript =
  | { kind: 'none' }
  | { kind: 'script'; script: DemoScript }
  | { kind: 'broken'; message: string };

const FENCE = /^```demo[ \t]*\n([\s\S]*?)\n?^```/m;
const MAX_SCRIPT_CHARS = 64 * 1024;

/** Finds and reads the script in a text: the first code block fenced as `demo`. */
export function findScript(text: string): FoundScript {
  const body = FENCE.exec(text)?.[1];
  if (body === undefined) return { kind: 'none' };
  if (body.length > MAX_SCRIPT_CHARS) return { kind: 'broken', message: 'the script is too large' };
  const yaml = parseYaml(body);
  if (!yaml.ok) return { kind: 'broken', message: yaml.problems[0]?.msg ?? 'not YAML' };
  const parsed = DemoScript.safeParse(yaml.value ?? {});
  if (parsed.success) return { kind: 'script', script: parsed.data };
  const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  return { kind: 'broken', message: problems[0] ?? 'not valid' };
}
