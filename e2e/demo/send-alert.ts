import { call } from '../support/call.ts';
import { readEventStream } from '../support/event-stream.ts';
import type { LocalServices } from '../support/local-services.ts';
import { type Alert, alertmanagerPayload } from './alert.ts';
import { type Frame, RunLines } from './run-lines.ts';
import { bold, clip, dim, green, print, red, seconds, terminalWidth, violet, wrap } from './terminal.ts';

interface Delivery {
  readonly status?: string;
  readonly run_id?: string;
  readonly pipeline?: string;
  readonly reason?: string;
}

interface RunDetail {
  readonly status: string;
  readonly error: { message: string } | null;
  readonly steps: readonly { step_name: string; status: string; summary?: string | null }[];
}

export interface EndedRun {
  readonly id: string;
  readonly status: string;
}

export class DeliveryRefused extends Error {}

/** POSTs the alert as Alertmanager would. Throws `DeliveryRefused` where no run came out of it. */
async function deliver({ apiServer, tokens }: LocalServices, alert: Alert): Promise<Required<Delivery>> {
  const url = `${apiServer.url}/webhook?source=alert_router`;
  const answer = await call<Delivery>(url, { token: tokens.webhook, body: alertmanagerPayload(alert) });
  const { status = '', run_id = '', pipeline = '', reason = '' } = answer.body;
  if (answer.status !== 202 || run_id === '') {
    throw new DeliveryRefused(`the webhook answered ${answer.status}: ${JSON.stringify(answer.body)}`);
  }
  return { status, run_id, pipeline, reason };
}

/** Sends an alert and prints its run as it happens. */
export async function sendAndFollow(services: LocalServices, alert: Alert, signal: AbortSignal): Promise<EndedRun> {
  const { alertname, severity } = alert.labels;
  print(dim('POST /webhook?source=alert_router  '), `${bold(String(alertname))} ${severity}`);
  print(dim(clip(alert.annotations.summary ?? '', terminalWidth() - 4)));
  const started = performance.now();
  const { run_id: id, status, pipeline } = await deliver(services, alert);
  print(
    green(status),
    dim(` once it was on disk, ${Math.round(performance.now() - started)} ms  `),
    `pipeline ${bold(pipeline)}`,
    dim(`  run ${id}`),
  );
  await follow(services, id, signal);
  const run = await call<RunDetail>(`${services.apiServer.url}/runs/${id}`, { token: services.tokens.viewer });
  printResult(run.body, performance.now() - started);
  return { id, status: run.body.status };
}

/** Sends the same alert again, which starts no run. */
export async function repeat(services: LocalServices, alert: Alert): Promise<void> {
  const { status, reason } = await deliver(services, alert);
  print(dim('The same alert again: '), status === 'deduplicated' ? green(status) : red(status), dim(`  ${reason}`));
}

async function follow({ apiServer, tokens }: LocalServices, id: string, signal: AbortSignal): Promise<void> {
  const lines = new RunLines();
  for await (const { data } of readEventStream(`${apiServer.url}/ui/runs/${id}/stream`, {
    token: tokens.viewer,
    signal,
  })) {
    const frame = JSON.parse(data) as Frame;
    if (frame.type === 'run_complete') return;
    for (const line of lines.lines(frame)) print(line);
  }
}

const PAINTS: Record<string, (text: string) => string> = { completed: green, escalated: violet };

function printResult({ status, error, steps }: RunDetail, took: number): void {
  const paint = PAINTS[status] ?? red;
  const summary = steps.findLast((step) => typeof step.summary === 'string')?.summary ?? '';
  print();
  print(
    paint(bold(`${status === 'completed' ? '✓' : status === 'escalated' ? '◆' : '✗'} ${status}`)),
    dim(` in ${seconds(took)}`),
  );
  for (const line of wrap(summary, terminalWidth() - 6)) print('  ', line);
  if (status !== 'completed' && error)
    for (const line of wrap(error.message, terminalWidth() - 6)) print('  ', dim(line));
}
