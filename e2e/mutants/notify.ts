import { mutantsOf } from './mutant.ts';

const NOTIFY_DIR = 'api-server/src/notify';
const TABLES = 'api-server/src/store/tables';
const ANNOUNCED = 'api-server/src/boot/announced.test.ts';

export const NOTIFY = [
  ...mutantsOf('notify', 'api-server/src/runs/run/ending.ts', ANNOUNCED, [
    'a run that an internal error ends is not announced',
    'await finish(deps, run, { status',
    'await finish({ ...deps, endWrites: () => [] }, run, { status',
  ]),
  ...mutantsOf('notify', 'api-server/src/runs/run/take-up.ts', ANNOUNCED, [
    'a run that a restart ends is not announced',
    'finish(deps, run, restored.outcome)',
    'finish({ ...deps, endWrites: () => [] }, run, restored.outcome)',
  ]),
  ...mutantsOf('notify', `${NOTIFY_DIR}/plan.ts`, ANNOUNCED, [
    'a run that ends without a step is not announced',
    'if (targets.length === 0) return NOTHING;',
    'if (targets.length === 0 || step === null) return NOTHING;',
  ]),
  ...mutantsOf(
    'notify',
    `${NOTIFY_DIR}/choose.ts`,
    ANNOUNCED,
    ['an aborted run is not announced', "aborted: 'abort',", 'aborted: null,'],
    ['an escalated run is announced as failed', "escalated: 'escalate',", "escalated: 'fail',"],
  ),
  ...mutantsOf(
    'notify',
    `${NOTIFY_DIR}/choose.ts`,
    `${NOTIFY_DIR}/choose.test.ts`,
    [
      'what a step says of its messages is ignored',
      '[...stepScopes(pipeline.steps, step), pipeline.notifications]',
      '[...stepScopes(pipeline.steps, null), pipeline.notifications]',
    ],
    [
      'a step cannot be silent',
      '.find((list) => list !== undefined)',
      '.find((list) => list !== undefined && list.length > 0)',
    ],
  ),
  ...mutantsOf(
    'notify',
    `${NOTIFY_DIR}/fallback.ts`,
    `${NOTIFY_DIR}/sender.test.ts`,
    ['the fallback channel is never used', 'if (!fallback || ', 'if (fallback !== null || '],
    ['a fallback that fails is its own fallback', "failed.source.from === 'fallback' || ", ''],
  ),
  ...mutantsOf(
    'notify',
    `${NOTIFY_DIR}/settle.ts`,
    `${NOTIFY_DIR}/sender.test.ts`,
    ['a message is never given up', ' && at - claimed.triedFrom < patience.giveUpMs;', ';'],
    [
      'a message is given up after three tries',
      'const again = !delivery.ok && delivery.retryable && ',
      'const again = !delivery.ok && delivery.retryable && claimed.attempts < 2 && ',
    ],
    ['what cannot succeed is tried again', '!delivery.ok && delivery.retryable && at', '!delivery.ok && at'],
    ['a wait for a rate limit is a try', 'delivery.limited === true ? 0 : 1', 'delivery.limited === null ? 0 : 1'],
    ['a failed message counts as sent', "result.status === 'sent' ? 'sent' : 'failed';", "'sent';"],
    ['messages of testing runs count', "stage === 'production' ? [{", 'stage ? [{'],
  ),
  ...mutantsOf(
    'notify',
    `${NOTIFY_DIR}/sender.ts`,
    `${NOTIFY_DIR}/sender.test.ts`,
    ['a stop counts as a try', 'if (!delivery.ok && this.#stop.signal.aborted) return;', ''],
    ['a message of a testing run leaves', 'if (claimed.insteadOf !== null) return this.#toLog(claimed, prepared);', ''],
  ),
  ...mutantsOf(
    'notify',
    `${TABLES}/outbox.ts`,
    `${NOTIFY_DIR}/sender.test.ts`,
    [
      'the message of the fallback is not stored',
      'if (settlement.forward) await insertNotifications(tx, [settlement.forward]);',
      '',
    ],
    [
      'a message that is sent again is given up at once',
      'triedFrom: row.tried_from ?? row.created_at,',
      'triedFrom: row.created_at,',
    ],
  ),
  ...mutantsOf('notify', `${TABLES}/outbox.ts`, `${TABLES}/outbox.test.ts`, [
    'a message that is being sent is taken again',
    '.set({ due_at: slot.until })',
    '.set({ due_at: slot.due_at })',
  ]),
  ...mutantsOf(
    'notify',
    `${TABLES}/notification-list.ts`,
    'api-server/src/web/routes/notifications.test.ts',
    [
      'a message that arrived is sent again',
      ".where('id', '=', id).where('status', 'in', UNSENT).execute();",
      ".where('id', '=', id).execute();",
    ],
    ['a message that was given up is warned of no more', "[...failed.map(as('failed')), ", '['],
    ['a message that is tried again is not warned of', ", ...waiting.map(as('waiting'))]", ']'],
    [
      'a message that is sent again is not due',
      "{ status: 'pending', attempts: 0, due_at: at, tried_from: at",
      "{ status: 'failed', attempts: 0, due_at: at, tried_from: at",
    ],
  ),
  ...mutantsOf(
    'notify',
    `${NOTIFY_DIR}/routes.ts`,
    `${NOTIFY_DIR}/routes.test.ts`,
    ['a team is asked in the channel of the others', "[team, 'default'].find", "['default', team].find"],
    ['a team named as a method has a route', 'Object.hasOwn(routes, name)', 'name in routes'],
  ),
  ...mutantsOf(
    'notify',
    `${NOTIFY_DIR}/plan.ts`,
    `${NOTIFY_DIR}/plan.test.ts`,
    [
      'an approval goes to its team, whatever the step says',
      'written.length > 0 ? written :',
      'written.length < 0 ? written :',
    ],
    ['a message shows the operator’s secrets', 'const facts = masked(deps, known);', 'const facts = known;'],
    [
      'a message of a testing run goes to its channel',
      "channel: testing ? 'log' : target.channel,",
      'channel: target.channel,',
    ],
  ),
  ...mutantsOf('notify', `${NOTIFY_DIR}/notifications.ts`, `${NOTIFY_DIR}/sender.test.ts`, [
    'a fault in a message keeps its run from ending',
    "log.warn({ run_id: id, err: error }, 'notifications of a run could not be planned');",
    'throw error;',
  ]),
];

export const REPLICAS = [
  ...mutantsOf('replicas', `${TABLES}/duplicates.ts`, 'e2e/attacks/alerts-raced.test.ts', [
    'two api-servers look at one alert at the same time',
    'for (const key of [...stored.keys()].slice(0, MAX_LOCKS).toSorted()) await tx.lock(lockName(pipelineName, key));',
    '',
  ]),
  ...mutantsOf('replicas', 'api-server/src/runs/replay/sample.ts', 'e2e/faults/replay-batch.test.ts', [
    'who takes over a replay asks again what was answered',
    'const known = run.results.has(name);',
    'const known = run.results.size < 0;',
  ]),
  ...mutantsOf('replicas', 'api-server/src/runs/replay/chain.ts', 'e2e/faults/replay-batch.test.ts', [
    'who takes over a replay of several steps asks again what was answered',
    'const ended = earlier ? await',
    'const ended = earlier === null ? await',
  ]),
  ...mutantsOf(
    'replicas',
    'api-server/src/store/db/migrate.ts',
    'api-server/src/store/migrations/upgrade.postgres.test.ts',
    [
      'a start that loses Postgres while it migrates leaves half a schema',
      'await db.transaction().execute(async (transaction) => {',
      'await db.connection().execute(async (transaction) => {',
    ],
  ),
];

export const LISTS = mutantsOf(
  'lists',
  'api-server/src/service/runs/runs.ts',
  'api-server/src/service/runs/list.test.ts',
  [
    'a rare filter holds the service up',
    '|| more.length > 0 || (first !== undefined && !INDEXED.has(first[0]));',
    '|| more.length > 0;',
  ],
);
