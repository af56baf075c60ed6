import { mutantsOf } from './mutant.ts';

const STORE = 'api-server/src/store';
const DEFINITIONS = 'api-server/src/definitions';

export const DEDUP = [
  ...mutantsOf(
    'dedup',
    'api-server/src/triggers/intake.ts',
    'api-server/src/triggers/intake.test.ts',
    [
      'a repeat starts a run',
      'return enabled ? context.fingerprint : null;',
      'return enabled ? null : context.fingerprint;',
    ],
    [
      'two equal alerts of one delivery start two runs',
      'const twin = key === null ? null : (seen.get(name) ?? null);',
      'const twin: Plan | null = null;',
    ],
    [
      'the pipeline cannot switch deduplication off',
      'pipeline.config.trigger?.dedup?.enabled ?? deps.dedup.enabled',
      'deps.dedup.enabled',
    ],
  ),
  ...mutantsOf('dedup', 'api-server/src/triggers/coverage.ts', 'api-server/src/triggers/intake.test.ts', [
    'the window of the pipeline is ignored',
    'config.trigger?.dedup?.window_seconds ?? dedup.windowSeconds',
    'dedup.windowSeconds',
  ]),
  ...mutantsOf('dedup', 'api-server/src/triggers/coverage.ts', 'api-server/src/triggers/intake-coverage.test.ts', [
    'an alert that nobody looks at is suppressed',
    'if (coveredBy[index]) continue;\n    const request',
    'if (index > 0 || coveredBy[index]) continue;\n    const request',
  ]),
  ...mutantsOf('dedup', `${STORE}/tables/duplicates.ts`, `${STORE}/tables/duplicates.test.ts`, [
    'a run of another pipeline suppresses',
    "    .where('dedup_key', '=', slot.key)\n    .where('pipeline_name', '=', slot.pipeline)",
    "    .where('dedup_key', '=', slot.key)",
  ]),
];

export const FSYNC = [
  ...mutantsOf(
    'fsync',
    `${DEFINITIONS}/definition-files.ts`,
    'e2e/shim/definition-files.test.ts',
    ['a written definition may be empty after a power cut', '        await handle.sync();\n', ''],
    [
      'a renamed definition may be gone after a power cut',
      '            () => syncFolder(fs, file),\n            () => (prior',
      '            () => Promise.resolve(),\n            () => (prior',
    ],
    [
      'a deleted definition may be back after a power cut',
      '        () => syncFolder(fs, file),\n        () => fs.rename(aside, file),',
      '        () => Promise.resolve(),\n        () => fs.rename(aside, file),',
    ],
  ),
  ...mutantsOf(
    'fsync',
    'controller/src/files/managed-directory.ts',
    'controller/src/files/managed-directory.test.ts',
    [
      'a file is there before the manifest names it',
      'if (changed.length > 0) await writeManifest(',
      'if (changed.length < 0) await writeManifest(',
    ],
    ['files of others are deleted', '.filter(([path]) => OWN_PATH.test(path))', ''],
    ['temporary files of a crash stay', '  await sweep(root, step);\n', ''],
  ),
  ...mutantsOf('fsync', `${STORE}/db/sqlite-database.ts`, `${STORE}/db/sqlite-database.sqlite.test.ts`, [
    'foreign keys are off',
    'PRAGMA foreign_keys = ON;',
    'PRAGMA foreign_keys = OFF;',
  ]),
  ...mutantsOf('fsync', `${STORE}/db/group-commit.ts`, `${STORE}/db/group-commit.test.ts`, [
    'an answer leaves before the commit',
    '      const committed = this.#transactions.commit();',
    '      this.#answer(batch, results);\n      const committed = this.#transactions.commit();',
  ]),
];

export const MIGRATIONS = mutantsOf(
  'migrations',
  `${STORE}/db/migrate.ts`,
  `${STORE}/db/upgrade.sqlite.test.ts`,
  [
    'a process that is killed while it migrates leaves half a schema',
    'await db.transaction().execute(async (transaction) => {',
    'await db.connection().execute(async (transaction) => {',
  ],
  [
    'applied migrations are not written down',
    "await transaction.insertInto('schema_migrations')",
    "if (id === '') await transaction.insertInto('schema_migrations')",
  ],
);

export const ROLL_UPS = [
  ...mutantsOf(
    'roll-ups',
    'api-server/src/runs/state/rollups.ts',
    'api-server/src/runs/state/rollups.test.ts',
    [
      'testing runs count in the metrics',
      "run.stage === 'production' ? [{ metric: 'pipeline_runs_total'",
      "run.stage ? [{ metric: 'pipeline_runs_total'",
    ],
    [
      'testing steps count in the metrics',
      "if (step.stage !== 'production' || step.status === 'skipped') return [];",
      "if (step.status === 'skipped') return [];",
    ],
    ['a value on a bound falls into the next bucket', 'seen.value <= bound', 'seen.value < bound'],
    [
      'output tokens are counted as input',
      "labels: [...labels, 'output'], value: outputTokens ?? 0",
      "labels: [...labels, 'output'], value: inputTokens ?? 0",
    ],
  ),
  ...mutantsOf(
    'roll-ups',
    `${STORE}/db/hourly-sums.ts`,
    `${STORE}/db/hourly-sums.test.ts`,
    [
      'the second transaction of an hour replaces the first',
      '${sql.ref(`${table}.${column}`)} + ${sql.ref(`excluded.${column}`)}',
      '${sql.ref(`excluded.${column}`)}',
    ],
    [
      'rows of one transaction replace each other',
      '((known[column] as number) + (row[column] as number)) as R[keyof R]',
      '(row[column] as number) as R[keyof R]',
    ],
  ),
  ...mutantsOf('roll-ups', `${STORE}/aggregates/roll-up-check.ts`, `${STORE}/aggregates/roll-up-check.test.ts`, [
    'sums that are too low are not noticed',
    'entry.rolledUp < entry.counted',
    'entry.rolledUp > entry.counted',
  ]),
];
