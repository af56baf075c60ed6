import type { RpcRequest } from '@signalbox/crds';
import { Agent, AgentRunResult } from '@signalbox/crds';
import { createCompute } from '@signalbox/crds/process/compute';
import { carryOn } from '../observability/span.ts';
import { compilePolicy, type PolicyDefinition } from '../policy/policy.ts';
import type { Generated } from '../models/generate.ts';
import type { ModelCall } from '../models/model.ts';
import { Run } from '../runs/run.ts';
import type { RunJob } from '../runs/run-agent.ts';
import type { RunSlot } from '../runs/run-slot.ts';
import type { RunOutcome } from '../runs/run-outcome.ts';
import type { ToolOutcome } from '../tools/tool.ts';
import type { ApprovalRequest } from '../runs/tool-door.ts';
import { offerTools } from '../runs/tool-offer.ts';
import { AnswerPods } from '../pods/answer-pods.ts';

const { matches } = createCompute({ timeoutMs: 20_000 });

const RULES: PolicyDefinition['rules'] = [
  { deny: { tool: 'delete*' }, reason: 'no deletes' },
  { deny: { input_regex: 'kube-system' }, reason: 'not there' },
  { require_approval: { tool: 'exec' }, reason: 'it changes things' },
];
const SERVED = ['get', 'delete', 'exec'].map((name) => ({
  server: 'k8s',
  name,
  description: '',
  inputSchema: {},
  annotations: {},
}));

export interface World {
  /** What a pod of that agent is answered: a result, or the type of an error. */
  ask: (method: string, params: object, agent?: string) => Promise<unknown>;
  /** The calls that reached a tool server. */
  reached: string[];
  counted: { run_id: string | null; server: string; outcome: string }[];
  /** The tools of the counted calls. */
  tools: string[];
  /** The time of each counted call. */
  seconds: number[];
  /** The questions that people got. */
  asked: ApprovalRequest[];
  /** The calls that a model got. */
  calls: ModelCall[];
  /** Characters that the gateway holds for the run now. */
  held: () => number;
  /** What a model answers with; each answer uses 10 tokens. */
  model: (signal: AbortSignal) => Promise<Generated>;
  /** What a tool answers with. */
  tool: (signal: AbortSignal) => Promise<ToolOutcome>;
  /** What the policy waits for before it decides. */
  policy: () => Promise<void>;
}

interface RunOptions {
  /** What people answer. */
  approved?: boolean | Promise<boolean>;
  agent?: object;
  /** Of the gateway. */
  maxIterations?: number;
  /** What the pod says of the run. */
  ends?: RunOutcome;
  /** Gets the events of the run. */
  emit?: RunJob['emit'];
  /** Of the run. */
  slotOf?: (run: Run) => RunSlot;
}

const ROUTE = { provider: 'p', model: 'm' };
const USAGE = { input: 8, output: 2, cachedInput: null };
const REPLY = { content: [{ type: 'text' as const, text: 'done' }], finish: 'stop', usage: USAGE, modelId: 'm-1' };
export const REPLIED: Generated = { ok: true, route: ROUTE, reply: REPLY };
const said = { run_id: 'run-1', status: 'completed', text: 'done', duration_ms: 1 };
const ANSWERED: RunOutcome = { ok: true, result: AgentRunResult.parse(said) };

/** A gateway's side of one run of agent `far` that lists `k8s`, while a pod says whatever it wants. */
export async function outcomeOf(
  work: (world: World) => Promise<unknown>,
  {
    approved = true,
    agent = {},
    maxIterations = 20,
    ends = ANSWERED,
    emit = () => {},

    slotOf,
  }: RunOptions = {},
): Promise<RunOutcome> {
  const policy = compilePolicy({ default: 'allow', rules: RULES }, matches);
  if (!policy.ok) throw new Error(policy.message);
  const reached: string[] = [];
  const counted: World['counted'] = [];
  const seconds: number[] = [];
  const tools: string[] = [];
  const asked: World['asked'] = [];
  let held = 0;
  const world: Pick<World, 'calls' | 'model' | 'tool' | 'policy'> = {
    calls: [],
    model: () => Promise.resolve(REPLIED),
    tool: () => Promise.resolve({ kind: 'ok', text: `call ${reached.length}` }),
    policy: () => Promise.resolve(),
  };
  const pods = new AnswerPods({
    generate: ({ call }, { signal }) => {
      world.calls.push(call);
      return world.model(signal);
    },
    maxIterations,
    listsTool: (agent, server, tool) => [agent, server, tool].join() === 'far,beside,echo',
    livesHere: (server) => !['beside', 'elsewhere'].includes(server),
    door: {
      decide: (call) => world.policy().then(() => policy.decide(call)),
      call: (server, tool, input, { signal }) => {
        reached.push(`${server}/${tool} ${JSON.stringify(input)}`);
        return world.tool(signal);
      },
      onCall: ({ run_id, server, tool, outcome, seconds: time }) => {
        counted.push({ run_id, server, outcome });
        tools.push(tool);
        seconds.push(time);
      },
      toolTimeoutMs: 1000,
      resultMaxChars: 1000,
    },
  });
  const config = Agent.parse({ name: 'far', model: 'm', tools: ['k8s', 'beside'], ...agent });
  const run = new Run(
    'run-1',
    { agent: 'far', input: '' },
    {
      approves: 'own',
      event: () => {},
      requestApproval: async (_, request, signal) => {
        asked.push(request);
        const said = await Promise.race([approved, untilAborted(signal)]);
        return { approved: said, input_sha256: request.input_sha256 };
      },
    },
  );
  run.slot = slotOf?.(run) ?? null;
  const job: RunJob = {
    runId: 'run-1',
    share: 'agent far',
    agent: { name: 'far', version: '1', config, agentYaml: '', soul: '', managedBy: null },
    input: '',
    models: ['m'],
    contract: null,
    offer: await offerTools(config, SERVED),
    streamText: false,
    traceResultMaxChars: 100,
    signal: run.signal(),
    emit,
    span: carryOn('', {}, undefined),
  };
  const ask: World['ask'] = async (method, params, from = 'far') => {
    const request: RpcRequest = { jsonrpc: '2.0', id: 1, method, params: { run: 'run-1', ...params } };
    const reply = await pods.answer(from, request);
    if ('json' in reply) return JSON.parse(reply.json);
    return reply.ok ? reply.result : reply.error.data?.type;
  };
  return pods.during({ job, run, onTalk: (chars) => (held += chars) }, async () => {
    await work(Object.assign(world, { ask, reached, counted, seconds, tools, asked, held: () => held }));
    return ends;
  });
}

/** Rejects then, as what a run waits for does. */
export function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));
}

export async function withRun(work: (world: World) => Promise<unknown>, options?: RunOptions): Promise<void> {
  await outcomeOf(work, options);
}
