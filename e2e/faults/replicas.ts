import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../api-server/src/store/db/database.ts';
import { openDatabase } from '../../api-server/src/store/db/open-database.ts';
import { startFakeGateway } from '../bench/fake-gateway.ts';
import type { Launched } from '../bench/process.ts';
import { Ledger, type Violation } from '../crash/ledger.ts';
import { type Random, seededRandom } from '../crash/random.ts';
import { GATEWAY_TOKEN, launchService, type Place, preparePlace, WEBHOOK_TOKEN } from '../crash/service.ts';
import { type Senders, startSenders } from '../crash/senders.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { openDatabases } from './databases.ts';
import { countedTwice } from './rows.ts';

export interface ReplicasOptions {
  rounds: number;
  seed: number;
  /** What happens to one of the two in each round. */
  fault: 'kill' | 'stop' | 'freeze';
  /** More runs arrive than both can execute: queued ones go to the api-server that has room. */
  crowded?: boolean;
  /** Without the check of the epoch: to show that this can fail. */
  unfenced?: boolean;
}

export interface ReplicasReport {
  accepted: number;
  calls: number;
  /** Calls of a step that was in flight at a fault. */
  repeats: number;
  /** Runs that a fault found unfinished, over all rounds. */
  interrupted: number;
  violations: Violation[];
  /** Roll-ups that differ from the rows. */
  miscounted: string[];
}

/** Leases of these processes last two seconds, and the server ends idle transactions after five. */
const FROZEN_MS = 8_000;
const [FEWEST_ANSWERS, MOST_ANSWERS] = [40, 150];
/** Bounds a round in which a service takes nothing any more. */
const LONGEST_LOAD_MS = 30_000;
const GATEWAY_DELAY_MS = 150;
const FINISH_WITHIN_MS = 240_000;
/** A replica that was taken for dead refuses until it has its new place. */
const REFUSALS = [429, 503];

/** Two api-servers on one Postgres under load; one of them is repeatedly killed, stopped or paused. */
export async function runReplicas(options: ReplicasOptions): Promise<ReplicasReport> {
  using scratch = scratchDirectory('signalbox-replicas-');
  await using databases = await openDatabases('postgres');
  const location = await databases.fresh(scratch.path);
  const random = seededRandom(options.seed);
  const ledger = new Ledger();
  const gateway = await startFakeGateway({
    token: GATEWAY_TOKEN,
    onCall: (call) => ledger.called(call),
    delay: () => random() * GATEWAY_DELAY_MS,
  });
  const database = await openDatabase({ ...location, autoMigrate: true, now: Date.now });
  const place = preparePlace(scratch.path, {
    gatewayUrl: gateway.url,
    ...('url' in location && { databaseUrl: location.url }),
    ...(options.crowded && { concurrency: { max_runs: 6, on_full: 'queue' } }),
  });
  const pair = new Pair(place, { options, ledger, random, database });
  try {
    await pair.start();
    for (let round = 1; round <= options.rounds; round += 1) await pair.round();
    return await pair.finish();
  } finally {
    await pair.end();
    await database.close();
    await gateway.close();
  }
}

interface Setting {
  options: ReplicasOptions;
  ledger: Ledger;
  random: Random;
  database: Database;
}

/** The two, and what was counted so far. */
class Pair {
  readonly #place: Place;
  readonly #setting: Setting;
  #services: Launched[] = [];
  #unanswered: string[] = [];
  #keys = 0;
  #launched = 0;
  #interrupted = 0;

  constructor(place: Place, setting: Setting) {
    this.#place = place;
    this.#setting = setting;
  }

  async start(): Promise<void> {
    this.#services = [this.#launch(), this.#launch()];
    await Promise.all(this.#services.map(({ listening }) => listening));
  }

  async round(): Promise<void> {
    const { random, options } = this.#setting;
    const senders = await Promise.all(this.#services.map((service) => this.#send(service)));
    await Promise.race([
      allAnswered(senders, FEWEST_ANSWERS + random() * (MOST_ANSWERS - FEWEST_ANSWERS)),
      Promise.all(senders.map(({ stopped }) => stopped)),
      wait(LONGEST_LOAD_MS, undefined, { ref: false }),
    ]);
    const at = random() < 0.5 ? 0 : 1;
    const victim = this.#services[at] as Launched;
    this.#interrupted += (await this.#live()).length;
    if (options.fault !== 'freeze') {
      await (options.fault === 'kill' ? victim.kill() : victim.stop());
      this.#services[at] = this.#launch();
      await this.#services[at]?.listening;
    } else {
      process.kill(victim.pid, 'SIGSTOP');
      await wait(FROZEN_MS);
      process.kill(victim.pid, 'SIGCONT');
    }
    senders.forEach(({ stop }) => stop());
    await Promise.all(senders.map(({ stopped }) => stopped));
    this.#unanswered = senders.flatMap(({ unanswered }) => unanswered);
    await this.#look();
  }

  /** Unanswered deliveries are sent once more; then every run must end by itself. */
  async finish(): Promise<ReplicasReport> {
    const left = this.#unanswered.length;
    const senders = await this.#send(this.#services[0] as Launched);
    await Promise.race([senders.answered(left + 1), wait(LONGEST_LOAD_MS, undefined, { ref: false })]);
    senders.stop();
    await senders.stopped;
    await waitFor(async () => (await this.#live()).length === 0, {
      what: 'every run to end',
      timeoutMs: FINISH_WITHIN_MS,
    }).catch(() => undefined);
    const rows = await this.#setting.database.db.selectFrom('runs').select(['id', 'status']).execute();
    const { ledger } = this.#setting;
    ledger.finish({ runs: new Map(rows.map(({ id, status }) => [id, status])), completed: [] });
    const { accepted, calls, repeats, violations } = ledger;
    const miscounted = await countedTwice(this.#setting.database);
    return { accepted, calls, repeats, interrupted: this.#interrupted, violations, miscounted };
  }

  async end(): Promise<void> {
    await Promise.all(this.#services.map((service) => service.kill()));
  }

  async #send(service: Launched): Promise<Senders> {
    const { ledger, random } = this.#setting;
    return startSenders({
      url: await service.listening,
      token: WEBHOOK_TOKEN,
      again: this.#unanswered.splice(0),
      nextKey: () => `key-${++this.#keys}`,
      onAnswer: (key, runId) => ledger.answered(key, runId),
      random,
      refusals: REFUSALS,
    });
  }

  /** Steps that anybody could see as completed must not be asked again. */
  async #look(): Promise<void> {
    const steps = await this.#setting.database.db
      .selectFrom('step_executions')
      .select(['run_id', 'step_name'])
      .where('status', '=', 'completed')
      .execute();
    this.#setting.ledger.saw(steps, 'stored');
  }

  #live() {
    return this.#setting.database.db
      .selectFrom('runs')
      .select('id')
      .where('status', 'in', ['queued', 'running', 'interrupted'])
      .execute();
  }

  #launch(): Launched {
    const logFile = join(this.#place.data, `service-${++this.#launched}.log`);
    const failpoint = this.#setting.options.unfenced ? 'short_lease,unfenced' : 'short_lease';
    return launchService({ ...this.#place, logFile }, { SIGNALBOX_FAILPOINT: failpoint });
  }
}

const allAnswered = (senders: readonly Senders[], count: number) =>
  Promise.all(senders.map(({ answered }) => answered(count)));
