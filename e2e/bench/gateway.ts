import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type Benchmark, type Figure, median, perSecond } from './benchmark.ts';
import { Caller, INPUT, prepareGateway, startRelay } from './gateway-process.ts';
import { HttpConnection } from './http-connection.ts';
import { forkWorker, type Measured } from './process.ts';
import { cpuMilliseconds, residentMegabytes } from './services.ts';

const WARM_UP_CALLS = 10_000;
const WARM_UP_ALONE = 3000;
const CALLS_A_ROUND = 400;
/** To the same side, one after the other: long enough to see the side itself, not what the other two left of the caches. */
const CALLS_A_TURN = 50;
const AT_ONCE = 10;
const STARTS = 5;
const PARALLEL = 200;
const SETTLE_MS = 3000;

/** An agent run from the caller to the model and back, against the bare relay and against asking the model directly. */
export const gateway: Benchmark = {
  name: 'gateway',
  about: 'agent runs with a model that answers at once, compared with a bare relay to it',
  async run({ directory, rounds, seconds, progress }) {
    const model = forkWorker(join(import.meta.dirname, 'model-server.ts'));
    const { url: modelUrl } = await model.said;
    const processes: Measured[] = [];
    try {
      const relay = await startRelay(directory, modelUrl);
      processes.push(relay);
      const service = await prepareGateway(directory, modelUrl)();
      processes.push(service);
      const sides = { relay: await sideOf(relay), gateway: await sideOf(service) };
      for (const side of Object.values(sides)) await warmUp(side);
      const alone = await oneInFlight(sides, { modelUrl, rounds, progress });
      const busy = await manyInFlight(sides, { rounds, seconds, progress });
      const parallel = await allAtOnce(sides.gateway, rounds);
      await wait(SETTLE_MS);
      return [...alone, ...busy, parallel, ...memoryOf(service)];
    } finally {
      await Promise.all(processes.map((process) => process.stop()));
      await model.stop();
    }
  },
};

interface Side {
  caller: Caller;
  pid: number;
}
type Sides = Record<'relay' | 'gateway', Side>;

async function sideOf({ url, pid }: Measured): Promise<Side> {
  return { caller: await Caller.open(url), pid };
}

/** Both are long-running services, so their first minute is not measured. */
async function warmUp({ caller }: Side): Promise<void> {
  for (let call = 0; call < WARM_UP_CALLS; call += AT_ONCE)
    await Promise.all(Array.from({ length: AT_ONCE }, () => caller.run()));
  for (let call = 0; call < WARM_UP_ALONE; call++) await caller.run();
}

/** The three in short turns, so that a slow moment of the machine hits all of them. */
async function oneInFlight(
  sides: Sides,
  { modelUrl, rounds, progress }: { modelUrl: string; rounds: number; progress: (text: string) => void },
): Promise<Figure[]> {
  const direct = await HttpConnection.open(`${modelUrl}/chat/completions`, 'bench-key');
  const body = JSON.stringify({ model: 'instant', messages: [{ role: 'user', content: INPUT }] });
  const calls = {
    direct: () => direct.post(body).then(({ status }) => status === 200),
    relay: () => sides.relay.caller.run(),
    gateway: () => sides.gateway.caller.run(),
  };
  const perRound: Record<'relay' | 'gateway' | 'ratio' | 'direct', number[]> = {
    direct: [],
    relay: [],
    gateway: [],
    ratio: [],
  };
  for (let round = 0; round < rounds; round++) {
    const times = await inTurn(calls);
    const own = median(times.direct);
    const [relay, gateway] = [median(times.relay) - own, median(times.gateway) - own];
    perRound.direct.push(own);
    perRound.relay.push(relay);
    perRound.gateway.push(gateway);
    perRound.ratio.push(gateway / relay);
    progress(`one in flight: model ${ms(own)}, relay + ${ms(relay)}, gateway + ${ms(gateway)}`);
  }
  direct.close();
  const detail = `model alone ${ms(median(perRound.direct))}, relay adds ${ms(median(perRound.relay))}`;
  return [
    {
      what: 'agent run, without the time of the model, p50',
      value: median(perRound.gateway),
      unit: 'ms',
      limit: { direction: 'most', bound: 0.6 },
      detail,
    },
    {
      what: 'the same compared with the bare relay',
      value: median(perRound.ratio),
      unit: 'x',
      limit: { direction: 'most', bound: 5, aim: 1.5 },
    },
  ];
}

/** Milliseconds of every call of one round. */
async function inTurn<Who extends string>(calls: Record<Who, () => Promise<boolean>>): Promise<Record<Who, number[]>> {
  const names = Object.keys(calls) as Who[];
  const times = Object.fromEntries(names.map((who) => [who, [] as number[]])) as Record<Who, number[]>;
  for (let turn = 0; turn < (CALLS_A_ROUND / CALLS_A_TURN) * names.length; turn++) {
    const who = names[turn % names.length] as Who;
    for (let call = 0; call < CALLS_A_TURN; call++) times[who].push(await timed(who, calls[who]));
  }
  return times;
}

async function timed(who: string, call: () => Promise<boolean>): Promise<number> {
  const started = performance.now();
  if (!(await call())) throw new Error(`${who} gave no answer`);
  return performance.now() - started;
}

interface Round {
  rate: number;
  cpuMicros: number;
}

async function manyInFlight(
  sides: Sides,
  { rounds, seconds, progress }: { rounds: number; seconds: number; progress: (text: string) => void },
): Promise<Figure[]> {
  const results: Record<keyof Sides, Round[]> = { relay: [], gateway: [] };
  for (let round = 0; round < rounds; round++) {
    for (const who of ['relay', 'gateway'] as const) {
      const result = await steady(sides[who], seconds);
      results[who].push(result);
      progress(
        `${AT_ONCE} in flight: ${who} ${perSecond(result.rate)}, ${result.cpuMicros.toFixed(0)} us of CPU a call`,
      );
    }
  }
  const rateOf = (who: keyof Sides) => median(results[who].map(({ rate }) => rate));
  const cpuOf = (who: keyof Sides) => median(results[who].map(({ cpuMicros }) => cpuMicros));
  const ratios = results.gateway.map(({ rate }, round) => rate / (results.relay[round]?.rate ?? Number.NaN));
  return [
    {
      what: `agent runs with ${AT_ONCE} in flight compared with the bare relay`,
      value: median(ratios),
      unit: 'x',
      // The relay asks with node:http; the providers' `fetch` costs twice that, and the run itself as much again.
      limit: { direction: 'least', bound: 0.2 },
      detail: `${perSecond(rateOf('gateway'))} against ${perSecond(rateOf('relay'))}; CPU a call ${cpuOf('gateway').toFixed(0)} against ${cpuOf('relay').toFixed(0)} us`,
    },
  ];
}

async function steady({ caller, pid }: Side, seconds: number): Promise<Round> {
  const until = performance.now() + seconds * 1000;
  const before = cpuMilliseconds(pid);
  const started = performance.now();
  let calls = 0;
  const worker = async (): Promise<void> => {
    while (performance.now() < until) {
      if (!(await caller.run())) throw new Error('a call got no answer');
      calls += 1;
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  const took = (performance.now() - started) / 1000;
  return { rate: calls / took, cpuMicros: ((cpuMilliseconds(pid) - before) / calls) * 1000 };
}

async function allAtOnce({ caller }: Side, rounds: number): Promise<Figure> {
  let failed = 0;
  for (let round = 0; round < rounds; round++) {
    const answers = await Promise.all(Array.from({ length: PARALLEL }, () => caller.run()));
    failed += answers.filter((answered) => !answered).length;
  }
  return {
    what: `${PARALLEL} agent runs at once: runs without an answer`,
    value: failed,
    unit: '',
    limit: { direction: 'exactly', bound: 0 },
    detail: `${PARALLEL * rounds} runs`,
  };
}

const ms = (value: number): string => `${value.toFixed(2)} ms`;

function memoryOf({ pid }: Measured): Figure[] {
  if (process.platform !== 'linux') return [];
  return [{ what: 'memory of a gateway after load (RSS)', value: residentMegabytes(pid), unit: 'MB' }];
}

/** A gateway with many agents, from the command line to its first answer, and what it holds when nothing happens. */
export const gatewayStart: Benchmark = {
  name: 'gateway-start',
  about: `start and idle memory of a gateway with ${PARALLEL} agents on disk`,
  async run({ directory, progress }) {
    const model = forkWorker(join(import.meta.dirname, 'model-server.ts'));
    const { url: modelUrl } = await model.said;
    const starts: Start[] = [];
    try {
      for (let round = 0; round <= STARTS; round++) {
        const place = join(directory, `start-${round}`);
        mkdirSync(place);
        const start = await oneStart(place, modelUrl);
        progress(`${start.took.toFixed(2)} s, of it CPU ${start.cpu.toFixed(2)} s, ${start.resident.toFixed(0)} MB`);
        if (round > 0) starts.push(start);
      }
    } finally {
      await model.stop();
    }
    return [
      {
        what: `gateway: start with ${PARALLEL} agents on disk`,
        value: median(starts.map(({ took }) => took)),
        unit: 's',
        limit: { direction: 'most', bound: 1 },
        detail: `${median(starts.map(({ cpu }) => cpu)).toFixed(2)} s of CPU`,
      },
      {
        what: 'gateway: idle memory (RSS)',
        value: median(starts.map(({ resident }) => resident)),
        unit: 'MB',
        limit: { direction: 'most', bound: 140 },
      },
    ];
  },
};

interface Start {
  took: number;
  cpu: number;
  resident: number;
}

async function oneStart(place: string, modelUrl: string): Promise<Start> {
  const start = prepareGateway(place, modelUrl, PARALLEL);
  const started = performance.now();
  const service = await start();
  try {
    const { agents } = (await (await fetch(`${service.url}/health`)).json()) as { agents: number };
    const took = (performance.now() - started) / 1000;
    const cpu = cpuMilliseconds(service.pid) / 1000;
    if (agents !== PARALLEL) throw new Error(`${agents} of ${PARALLEL} agents were loaded`);
    const caller = await Caller.open(service.url);
    await caller.run();
    caller.close();
    await wait(SETTLE_MS);
    return { took, cpu, resident: residentMegabytes(service.pid) };
  } finally {
    await service.stop();
  }
}
