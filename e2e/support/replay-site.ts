import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { call } from './call.ts';
import { type LocalServices, startLocalServices } from './local-services.ts';
import { scratchDirectory } from './scratch.ts';
import { waitFor } from './wait-for.ts';

/** Both services with recorded, marked runs of one step, pinned to a golden set, and replay allowed. */
export interface ReplaySite extends Omit<LocalServices, 'stop'> {
  /** A folder for the test. */
  dir: string;
  step: 'triage';
  goldenSet: { id: string; name: string };
  close(): Promise<void>;
}

/** The pipeline of the site; its agent answers with the action that the prompt names. */
export const checkoutPipeline = (action: string): string => `name: checkout-errors
stage: production
steps:
  - name: triage
    executor: gateway
    agent: triager
    confidence_threshold: 0.5
    prompt_template: |
      Alert: {{summary}}
      What should be done?
      \`\`\`demo
      answer:
        confidence: 0.9
        summary: The connection pool is exhausted.
        action: ${action}
      \`\`\`
    deterministic_checks:
      - {type: shell, name: acts, run: 'test "$ACTION" = restart', env: {ACTION: '{{output.action}}'}, expect: exit_code == 0}
`;

/** Its soul has no script of the demo provider, so that the prompt decides what it answers. */
const AGENT = { 'agent.yaml': 'name: triager\nmodel: demo/scripted\n', 'soul.md': 'You triage alerts.\n' };

/** `pipelines`: more of them, by file name. */
export async function openReplaySite(pipelines: Readonly<Record<string, string>> = {}): Promise<ReplaySite> {
  const scratch = scratchDirectory('signalbox-replay-');
  const folder = (name: string): string => {
    const path = join(scratch.path, name);
    mkdirSync(path, { recursive: true });
    return path;
  };
  for (const [file, text] of Object.entries(AGENT)) writeFileSync(join(folder('agents/triager'), file), text);
  const all = { 'checkout.yaml': checkoutPipeline('restart'), ...pipelines };
  for (const [file, text] of Object.entries(all)) writeFileSync(join(folder('pipelines'), file), text);
  try {
    const services = await startLocalServices({
      dataDir: scratch.path,
      change: {
        gateway: (config) => void (config.agents_dir = folder('agents')),
        'api-server': (config) => {
          config.pipeline_config_dir = folder('pipelines');
          config.security = { allow_shell_checks: true };
          config.replay = { safe_agents: ['gateway:triager'] };
        },
      },
    });
    const close = async () => {
      await services.stop();
      scratch.remove();
    };
    const goldenSet = await pinRuns(services, 2).catch(async (error: unknown) => {
      await close();
      throw error;
    });
    return { ...services, dir: folder('work'), step: 'triage', goldenSet, close };
  } catch (error) {
    scratch.remove();
    throw error;
  }
}

type Services = Pick<LocalServices, 'apiServer' | 'tokens'>;

async function post<T>({ apiServer: { url }, tokens }: Services, path: string, body: object): Promise<T> {
  const answer = await call<T>(`${url}${path}`, { token: tokens.operator, body });
  if (answer.status >= 300) throw new Error(`${path} answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body;
}

/** A run of the pipeline that has ended, with the answer of one step marked as correct. */
export async function markedRun(
  services: Services,
  { pipeline, step, summary }: { pipeline: string; step: string; summary: string },
): Promise<string> {
  const { run_id } = await post<{ run_id: string }>(services, `/pipelines/${pipeline}/run`, { summary });
  const run = { url: `${services.apiServer.url}/runs/${run_id}`, token: services.tokens.operator };
  const ended = async () => (await call<{ status: string }>(run.url, { token: run.token })).body.status;
  await waitFor(async () => (await ended()) === 'completed', { what: `run ${run_id} to complete` });
  await post(services, `/runs/${run_id}/steps/${step}/feedback`, { outcome: 'correct' });
  return run_id;
}

/** Runs the pipeline, marks each answer as correct and pins it. */
async function pinRuns(services: LocalServices, count: number): Promise<ReplaySite['goldenSet']> {
  const name = 'misread';
  const { id } = await post<{ id: string }>(services, '/golden-sets', { name, step_name: 'triage' });
  for (let n = 0; n < count; n += 1) {
    const what = { pipeline: 'checkout-errors', step: 'triage', summary: `Checkout answers 5xx, case ${n}` };
    const run_id = await markedRun(services, what);
    await post(services, `/golden-sets/${id}/members`, { run_id, step_name: 'triage' });
  }
  return { id, name };
}
