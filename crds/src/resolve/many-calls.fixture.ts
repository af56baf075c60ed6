import { resolveSet } from './resolve-set.ts';

const calling = (name: string, called: readonly string[]) => ({
  file: `${name}.yaml`,
  text: JSON.stringify({
    name,
    steps: called.map((pipeline, at) => ({ name: `s${at}`, executor: 'pipeline', pipeline })),
  }),
});
const leaf = (name: string) => ({
  file: `${name}.yaml`,
  text: JSON.stringify({
    name,
    steps: [{ name: 's', executor: 'human', prompt_template: 'x', timeout_seconds: 5 }],
  }),
});
const many = <T>(count: number, make: (at: number) => T): T[] => Array.from({ length: count }, (_, at) => make(at));

const SHAPES: Record<string, () => ReturnType<typeof leaf>[]> = {
  ring: () => many(3500, (at) => calling(`p${at}`, [`p${(at + 1) % 3500}`])),
  hub: () => [
    ...many(3000, (at) => calling(`c${at}`, ['hub'])),
    calling(
      'hub',
      many(50, (at) => `m${at}`),
    ),
    ...many(50, (at) =>
      calling(
        `m${at}`,
        many(60, (leafAt) => `l${at * 60 + leafAt}`),
      ),
    ),
    ...many(3000, (at) => leaf(`l${at}`)),
  ],
};

const { pipelines, problems } = resolveSet({ pipelines: SHAPES[process.argv[2] ?? '']?.() ?? [], steps: [] });
const cycles = problems.filter(({ reason }) => reason === 'cycle').length;
process.stdout.write(JSON.stringify({ loaded: pipelines.length, cycles }));
