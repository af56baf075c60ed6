import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startFakeGateway } from '../bench/fake-gateway.ts';
import type { Launched } from '../bench/process.ts';
import { cutPower, shimEnvironment } from '../shim/shim.ts';
import { scratchDirectory } from '../support/scratch.ts';
import { waitFor } from '../support/wait-for.ts';
import { Ledger, type Violation } from './ledger.ts';
import { type Random, seededRandom } from './random.ts';
import {
  GATEWAY_TOKEN,
  launchService,
  type Place,
  preparePlace,
  readLogged,
  readStored,
  VIEWER_TOKEN,
  WEBHOOK_TOKEN,
} from './service.ts';
import type { Failpoint } from './service.ts';
import { startSenders } from './senders.ts';

export interface CrashOptions {
  rounds: number;
  seed: number;
  /** Path of the compiled shim: after each kill the files are what was fsynced, as after a power cut. */
  powerCutWith?: string;
  failpoint?: Failpoint;
  onRound?: (round: number, report: CrashReport) => void;
}

export interface CrashReport {
  /** Kills before the service listened, and under load. */
  kills: { starting: number; loaded: number };
  accepted: number;
  /** Webhooks sent again because the kill took the first answer. */
  sentAgain: number;
  /** Runs that a kill found unfinished, over all kills. */
  interrupted: number;
  calls: number;
  /** Calls of a step that was in flight when the service died. */
  repeats: number;
  violations: Violation[];
}

const SHARE_KILLED_STARTING = 0.15;
const START_TAKES_MS = 700;
const MOST_ANSWERS = 150;
/** Bounds a round in which the service takes nothing any more. */
const LONGEST_LOAD_MS = 30_000;
const LONGEST_DELAY_MS = 12;
const GATEWAY_DELAY_MS = 15;
const FINISH_WITHIN_MS = 240_000;

/** Repeatedly kills the service under load, lets it finish at the end, and reports the violations. */
export async function runCrashRounds(options: CrashOptions): Promise<CrashReport> {
  using scratch = scratchDirectory('signalbox-crash-');
  const random = seededRandom(options.seed);
  const ledger = new Ledger();
  const gateway = await startFakeGateway({
    token: GATEWAY_TOKEN,
    onCall: (call) => ledger.called(call),
    delay: () => random() * GATEWAY_DELAY_MS,
  });
  try {
    const world = new World(preparePlace(scratch.path, { gatewayUrl: gateway.url }), join(scratch.path, 'shadow'), {
      options,
      ledger,
      random,
    });
    for (let round = 1; round <= options.rounds; round++) {
      await world.round();
      options.onRound?.(round, world.report());
    }
    await world.finish();
    return world.report();
  } finally {
    await gateway.close();
  }
}

interface Setting {
  options: CrashOptions;
  ledger: Ledger;
  random: Random;
}

/** The service under fault, its disk, and what was counted so far. */
class World {
  readonly #place: Place;
  readonly #shadow: string;
  readonly #setting: Setting;
  readonly #kills = { starting: 0, loaded: 0 };
  #unanswered: string[] = [];
  #sentAgain = 0;
  #interrupted = 0;
  #keys = 0;
  #readSince = 0;

  constructor(place: Place, shadow: string, setting: Setting) {
    this.#place = place;
    this.#shadow = shadow;
    this.#setting = setting;
  }

  async round(): Promise<void> {
    const { random } = this.#setting;
    const startedAt = Date.now();
    const service = this.#launch();
    if (random() < SHARE_KILLED_STARTING && this.#kills.loaded > 0) {
      await wait(random() * START_TAKES_MS);
      await service.kill();
      this.#kills.starting++;
    } else {
      await this.#loadAndKill(service);
    }
    this.#inspect(startedAt);
  }

  /** The moment is some answers into the load and a little later, so that a slow machine is killed as far in as a fast one. */
  async #loadAndKill(service: Launched): Promise<void> {
    const { ledger, random } = this.#setting;
    const url = await service.listening;
    this.#sentAgain += this.#unanswered.length;
    const senders = startSenders({
      url,
      token: WEBHOOK_TOKEN,
      again: this.#unanswered,
      nextKey: () => `key-${++this.#keys}`,
      onAnswer: (key, runId) => ledger.answered(key, runId),
      random,
    });
    const answers = Math.ceil(random() * MOST_ANSWERS);
    await Promise.race([senders.answered(answers), wait(LONGEST_LOAD_MS, undefined, { ref: false }), senders.stopped]);
    await wait(random() * LONGEST_DELAY_MS);
    await service.kill();
    this.#kills.loaded++;
    await senders.stopped;
    this.#unanswered = senders.unanswered;
  }

  /** After each kill: the disk as the fault left it, and the steps that are completed there. */
  #inspect(startedAt: number): void {
    if (this.#setting.options.powerCutWith) cutPower({ directory: this.#place.data, shadow: this.#shadow });
    const stored = readStored(this.#place, this.#readSince);
    this.#readSince = startedAt;
    this.#setting.ledger.saw(stored.completed, 'stored');
    this.#setting.ledger.saw(readLogged(this.#place), 'logged');
    for (const status of stored.runs.values())
      if (status === 'running' || status === 'interrupted') this.#interrupted++;
  }

  /** Lets the service resume everything, then compares what it stored with what it had promised. */
  async finish(): Promise<void> {
    const service = this.#launch();
    const url = await service.listening;
    try {
      await waitFor(() => nothingRuns(url), { what: 'the last runs to finish', timeoutMs: FINISH_WITHIN_MS });
    } finally {
      await service.stop();
    }
    this.#setting.ledger.finish(readStored(this.#place, Number.MAX_SAFE_INTEGER));
  }

  #launch(): Launched {
    const { failpoint, powerCutWith } = this.#setting.options;
    const power = { directory: this.#place.data, shadow: this.#shadow };
    return launchService(this.#place, {
      ...(failpoint && { SIGNALBOX_FAILPOINT: failpoint }),
      ...(powerCutWith && shimEnvironment(powerCutWith, { power })),
    });
  }

  report(): CrashReport {
    const { accepted, calls, repeats, violations } = this.#setting.ledger;
    return {
      kills: { ...this.#kills },
      accepted,
      sentAgain: this.#sentAgain,
      interrupted: this.#interrupted,
      calls,
      repeats,
      violations,
    };
  }
}

/** No run is active or waits to be resumed, according to the API: one that is resumed between two questions is seen by the last. */
async function nothingRuns(url: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${VIEWER_TOKEN}` };
  for (const status of ['running', 'interrupted', 'running']) {
    const response = await fetch(`${url}/runs?status=${status}&limit=1`, { headers });
    const { runs } = (await response.json()) as { runs: unknown[] };
    if (runs.length > 0) return false;
  }
  return true;
}
