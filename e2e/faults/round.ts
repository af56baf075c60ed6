import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Database, DatabaseLocation } from '../../api-server/src/store/db/database.ts';
import { openDatabase } from '../../api-server/src/store/db/open-database.ts';
import { noteLook } from '../../api-server/src/store/tables/schedules.ts';
import { type FakeGateway, type GatewayCall, startFakeGateway } from '../bench/fake-gateway.ts';
import { type Launched, launch } from '../bench/process.ts';
import { call } from '../support/call.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { ROOT } from '../support/start-service.ts';
import { waitFor } from '../support/wait-for.ts';
import { countedTwice, inconsistencies, readRows, type Rows } from './rows.ts';
import { DELIVERED, TOKENS, writeSetting } from './shapes.ts';

export interface RoundOptions {
  /** Of an empty database; `file` answers a path in the folder of the round. */
  database(directory: string): Promise<DatabaseLocation>;
  /**
   * One for each start that dies, in the form of `SIGNALBOX_FAILPOINT`. Each also gets separate deliveries, beside the runs
   * that go on; the last start is a healthy one and gets none.
   */
  kills: readonly string[];
}

export interface RoundReport {
  /** How many of the kills happened. */
  died: number;
  /** Kills whose point was not reached. */
  missed: string[];
  violations: string[];
}

/** Starts the service, kills it at each given point, restarts it, and returns the violations. */
export async function runRound({ database, kills }: RoundOptions): Promise<RoundReport> {
  using scratch = scratchDirectory('signalbox-fault-');
  const location = await database(scratch.path);
  await using world = await World.open(scratch.path, location);
  const report: RoundReport = { died: 0, missed: [], violations: [] };
  for (const kill of kills) {
    if (await diesAt(world, kill)) report.died += 1;
    else report.missed.push(kill);
    world.saw(await world.read(readRows));
  }
  await world.until(undefined);
  const { rows, twice } = await world.read(async (open) => ({
    rows: await readRows(open),
    twice: await countedTwice(open),
  }));
  report.violations = [...world.violations, ...world.lost(rows), ...inconsistencies(rows), ...twice];
  return report;
}

/** What a job does in the background may come after the last run has ended; the next start does it then. */
const TRIES = 3;

async function diesAt(world: World, kill: string): Promise<boolean> {
  for (let tried = 0; tried < TRIES; tried++) {
    world.newDeliveries();
    if (await world.until(kill)) return true;
  }
  return false;
}

/** Runs everything once with nothing broken and answers every point that was reached, in order. */
export async function tracePoints(database: RoundOptions['database']): Promise<string[]> {
  using scratch = scratchDirectory('signalbox-fault-');
  await using world = await World.open(scratch.path, await database(scratch.path));
  world.newDeliveries();
  await world.until('trace');
  const lines = readFileSync(world.logFile, 'utf8').split('\n');
  return lines.flatMap((line) => (line.startsWith('failpoint ') ? [line.slice('failpoint '.length)] : []));
}

/** Long enough for a machine that is busy with other things. */
const LISTENS_WITHIN_MS = 120_000;
const SETTLE_WITHIN_MS = 240_000;

interface Parts {
  directory: string;
  location: DatabaseLocation;
  gateway: FakeGateway;
  hooks: Server;
  config: string;
}

/** The service, what it talks to, and what was seen of it. */
class World implements AsyncDisposable {
  readonly violations: string[] = [];
  readonly logFile: string;
  readonly #location: DatabaseLocation;
  readonly #gateway: FakeGateway;
  readonly #hooks: Server;
  readonly #config: string;
  /** Steps that the database called completed after a kill. */
  readonly #completed = new Set<string>();
  /** Run by delivery, as answered; null until then. */
  readonly #deliveries = new Map<string, string | null>();
  #generation = 0;

  private constructor(parts: Parts) {
    this.#location = parts.location;
    this.#gateway = parts.gateway;
    this.#hooks = parts.hooks;
    this.#config = parts.config;
    this.logFile = join(parts.directory, 'service.log');
  }

  static async open(directory: string, location: DatabaseLocation): Promise<World> {
    const asked: ((call: GatewayCall) => void)[] = [];
    const onCall = (one: GatewayCall) => asked.forEach((listener) => listener(one));
    const gateway = await startFakeGateway({ token: TOKENS.gateway, onCall });
    const hooks = createServer((request, response) => void request.resume().on('end', () => response.end('{}')));
    await new Promise<void>((resolve) => hooks.listen(0, '127.0.0.1', resolve));
    const { port } = hooks.address() as AddressInfo;
    const databaseUrl = 'file' in location ? `sqlite://${location.file}` : location.url;
    const config = writeSetting({
      directory,
      databaseUrl,
      gatewayUrl: gateway.url,
      webhookUrl: `http://127.0.0.1:${port}/`,
    });
    const world = new World({ directory, location, gateway, hooks, config });
    asked.push((one) => world.called(one));
    // As if it had last run some minutes ago: the schedule has a fire to catch up with.
    await world.read((database) => database.write((tx) => noteLook(tx, Date.now() - 150_000)));
    return world;
  }

  /** Judged by the calls of agents: no agent is called again for a step that was stored as completed. */
  called({ run_id, step_name }: GatewayCall): void {
    if (this.#completed.has(`${run_id}/${step_name}`)) this.violations.push(`${step_name} of ${run_id} ran again`);
  }

  newDeliveries(): void {
    this.#generation += 1;
    for (const pipeline of DELIVERED) this.#deliveries.set(`${pipeline}-${this.#generation}`, null);
  }

  saw({ steps }: Rows): void {
    for (const { runId, name, status } of steps) if (status === 'completed') this.#completed.add(`${runId}/${name}`);
  }

  lost({ runs }: Rows): string[] {
    const known = new Set(runs.map(({ id }) => id));
    return [...this.#deliveries].flatMap(([key, id]) =>
      id !== null && known.has(id) ? [] : [`the run of ${key} (${id ?? 'never answered'}) is lost`],
    );
  }

  /** Uses the database of a service that is dead or not started yet. */
  async read<T>(job: (database: Database) => Promise<T>): Promise<T> {
    const database = await openDatabase({ ...this.#location, autoMigrate: true, now: Date.now });
    try {
      return await job(database);
    } finally {
      await database.close();
    }
  }

  /** True where the service died; it is stopped politely once everything has ended. */
  async until(failpoint: string | undefined): Promise<boolean> {
    const service = launch({
      name: 'api-server',
      args: [join(ROOT, 'api-server', 'start.mjs'), '--config', this.#config],
      logFile: this.logFile,
      listensWithinMs: LISTENS_WITHIN_MS,
      // On Postgres the next start waits until the lease of the last one is over.
      env: { SIGNALBOX_FAILPOINT: ['short_lease', failpoint ?? ''].join(',') },
    });
    try {
      return await this.#drive(service);
    } catch (error) {
      if (failpoint === undefined || isAlive(service.pid)) throw error;
      return true;
    } finally {
      await service.stop();
    }
  }

  /** Sends unanswered deliveries again and decides approvals until no run is active or the service stops answering. */
  async #drive(service: Launched): Promise<boolean> {
    const url = await service.listening;
    const settled = async () => {
      if (!isAlive(service.pid)) return 'died' as const;
      await this.#deliver(url);
      await this.#decide(url);
      return (await this.#nothingRuns(url)) ? ('settled' as const) : null;
    };
    const probe = () => settled().catch(() => (isAlive(service.pid) ? null : ('died' as const)));
    const found = await waitFor(probe, { what: 'every run to end', timeoutMs: SETTLE_WITHIN_MS, everyMs: 15 });
    return found === 'died';
  }

  async #deliver(url: string): Promise<void> {
    const open = [...this.#deliveries].flatMap(([key, id]) => (id === null ? [key] : []));
    const send = async (key: string) => {
      const pipeline = key.slice(0, key.lastIndexOf('-'));
      const body = { pipeline, idempotency_key: key, summary: 'it is slow', data: { items: ['a', 'b', 'c'] } };
      const answer = await call<{ run_id?: string }>(`${url}/webhook?source=generic`, { token: TOKENS.webhook, body });
      if (answer.body.run_id) this.#deliveries.set(key, answer.body.run_id);
    };
    await Promise.all(open.map(send));
  }

  async #decide(url: string): Promise<void> {
    const token = TOKENS.operator;
    const { body } = await call<{ approvals: { id: string }[] }>(`${url}/approvals?status=pending`, { token });
    for (const { id } of body.approvals) await call(`${url}/approvals/${id}`, { token, body: { decision: 'approve' } });
  }

  async #nothingRuns(url: string): Promise<boolean> {
    if ([...this.#deliveries.values()].includes(null)) return false;
    for (const status of ['running', 'interrupted', 'queued']) {
      const { body } = await call<{ runs: unknown[] }>(`${url}/runs?status=${status}&limit=1`, {
        token: TOKENS.operator,
      });
      if (body.runs.length > 0) return false;
    }
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#hooks.closeAllConnections();
    this.#hooks.close();
    await this.#gateway.close();
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
