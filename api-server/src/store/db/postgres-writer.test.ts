import { expect, test } from 'vitest';
import { CommitInDoubt, ConnectionLost } from './faults.ts';
import type { Answer, Query } from './postgres-connection.ts';
import { createWriter } from './postgres-writer.ts';

const named = { rows: [{ id: '7' }], rowCount: 1, command: 'SELECT' };

/** A writer over a server that answers as `answer` says; `sent` has what reached it before the first answer to the end of the transaction. */
function writerOn(answer: (text: string) => Promise<Answer>) {
  const sent: string[] = [];
  const query = ({ text }: Query): Promise<Answer> => {
    if (text.startsWith('BEGIN')) return Promise.resolve([named, named, named] as unknown as Answer);
    sent.push(text.split(' ').slice(0, 3).join(' '));
    return answer(text);
  };
  const writer = createWriter({
    fenced: false,
    connect: () => Promise.resolve({ query, alive: true, end: () => Promise.resolve() }),
    outcome: () => Promise.resolve('not_committed'),
  });
  return { sent, writer };
}

const hour = {
  hour: 0,
  pipeline_name: 'p',
  stage: 'production',
  team: '',
  status: 'completed',
  runs: 1,
  duration_ms: 1,
};

async function commitSums({ writer }: ReturnType<typeof writerOn>): Promise<void> {
  await writer.begin('shared');
  writer.tx.count({ metric: 'm', labels: [], value: 1 });
  writer.tx.sum({ table: 'hourly_runs', row: hour });
  await writer.commit();
}

test('the sums of a transaction go out with its commit', async () => {
  const { promise: answered, resolve } = Promise.withResolvers<Answer>();
  const site = writerOn(() => answered);
  const committed = commitSums(site);
  await expect.poll(() => site.sent).toEqual(['INSERT INTO counters', 'INSERT INTO hourly_runs', 'COMMIT']);
  resolve({ rows: [], rowCount: 0, command: 'COMMIT' });
  await committed;
});

test('a message goes out once in a transaction, and again in the next one', async () => {
  const site = writerOn(() => Promise.resolve({ rows: [], rowCount: 0, command: 'COMMIT' }));
  const { tx, begin, commit } = site.writer;
  for (let transaction = 0; transaction < 2; transaction++) {
    await begin('shared');
    for (let run = 0; run < 500; run++) await tx.notify('work');
    await commit();
  }
  const once = ['SELECT pg_notify($1, $2)', 'COMMIT'];
  expect(site.sent).toEqual([...once, ...once]);
});

test('a sum that is refused is the error of its transaction', async () => {
  const site = writerOn((text) =>
    text === 'COMMIT'
      ? Promise.resolve({ rows: [], rowCount: 0, command: 'ROLLBACK' })
      : Promise.reject(new Error(`refused ${text.slice(0, 20)}`)),
  );
  await expect(commitSums(site)).rejects.toThrow('refused INSERT INTO counters');
});

test('a connection that ends after the commit was sent leaves it in doubt', async () => {
  const site = writerOn(() => Promise.reject(new ConnectionLost('gone')));
  await expect(commitSums(site)).rejects.toThrow(CommitInDoubt);
});

test('a commit that the server made is one, also where the answer to a sum before it was late', async () => {
  const site = writerOn((text) =>
    text === 'COMMIT'
      ? Promise.resolve({ rows: [], rowCount: 0, command: 'COMMIT' })
      : Promise.reject(new ConnectionLost('Query read timeout')),
  );
  await expect(commitSums(site)).resolves.toBeUndefined();
});
