import type { VerdictOf } from '../references/language.ts';
import { compileJsonSchema, type SchemaVerdict } from '../language/json-schema.ts';

/** Schemas of the definition that is checked next, and whose they are. */
export interface Ahead {
  name: string;
  schemas: readonly object[];
}

/** Work in parts, each of which takes well under a fifth of a second: it yields before each part. */
export type Turns<T> = Generator<Ahead | null, T, void>;

/** The result of the work, in one go. */
export function atOnce<T>(turns: Turns<T>): T {
  for (;;) {
    const turn = turns.next();
    if (turn.done) return turn.value;
  }
}

export interface Resting {
  /** Lets the event loop do other work. */
  rest(): Promise<void>;
  /** Whether a schema can be compiled, judged elsewhere; null leaves it to be compiled here, in a turn of its own. */
  judge(schema: object, name: string): Promise<SchemaVerdict | null>;
}

/** The result of the work, which gets the verdicts of one definition at a time. */
export async function inTurns<T>(begin: (verdictOf: VerdictOf) => Turns<T>, { rest, judge }: Resting): Promise<T> {
  const verdicts = new Map<string, SchemaVerdict>();
  const turns = begin((schema) => verdicts.get(JSON.stringify(schema)));
  for (;;) {
    const turn = turns.next();
    if (turn.done) return turn.value;
    verdicts.clear();
    await rest();
    if (turn.value) await judgeAll(turn.value, { rest, judge }, verdicts);
  }
}

async function judgeAll(
  { name, schemas }: Ahead,
  { rest, judge }: Resting,
  verdicts: Map<string, SchemaVerdict>,
): Promise<void> {
  for (const schema of schemas) {
    const text = JSON.stringify(schema);
    const verdict = verdicts.get(text) ?? (await judge(schema, name));
    if (verdict === null) await rest();
    verdicts.set(text, verdict ?? compileJsonSchema(schema));
  }
}

/** Characters of all schemas of a definition that are compiled where it is checked. */
const MAX_HERE = 4 * 1024;

/** Every `output_schema` in a definition as it was written; none where they are small together. */
export function schemasAhead(body: Readonly<Record<string, unknown>>): object[] {
  const found: object[] = [];
  collect(body, found);
  return found.reduce((sum, schema) => sum + JSON.stringify(schema).length, 0) > MAX_HERE ? found : [];
}

function collect(value: unknown, found: object[]): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, part] of Object.entries(value)) {
    if (key === 'output_schema' && typeof part === 'object' && part !== null) found.push(part as object);
    else collect(part, found);
  }
}
