import { type Check, computeLimit, type ComputeLimit, cutShort, type Evaluated, valuesIn } from '@signalbox/crds';
import { type ActiveRun, authorOf } from '../state/active-run.ts';
import { failure, type AuthorHttp, type Failure } from '../state/executor.ts';
import { withDeadline } from '../state/deadline.ts';
import { enterCall } from '../state/open-calls.ts';
import { stopReason } from '../state/stopped.ts';
import type { CheckResult } from '../state/model.ts';
import type { PromptRoom } from '../state/prompt-room.ts';
import { sizeOfValues, VALUE_SIZE } from '../state/size-of-values.ts';
import { shownUrl, type TriedRequest } from '../state/step-parts.ts';
import { noteMissing } from '../prompt/blanks.ts';
import { oneAtATime } from '../prompt/one-at-a-time.ts';
import { renderJson, type PipelineEnv, type Rendering, textRoom } from '../prompt/rendering.ts';
import { charsOf, parseBody, renderRequest } from '../prompt/request.ts';
import { runValues } from '../prompt/run-values.ts';
import type { Begun } from './step-execution.ts';
import { ownerOf, type Templates } from '../prompt/templates.ts';
import { answerValues, type Subject } from './verify.ts';

export interface ShellResult {
  ok: true;
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

/** Runs `sh -c run` with `env` and PATH only; its process group dies with the signal. */
export type ShellExecutor = (call: {
  run: string;
  env: Record<string, string>;
  signal: AbortSignal;
}) => Promise<ShellResult | Failure>;

export interface CheckDeps {
  templates: Templates;
  env: PipelineEnv;
  http: AuthorHttp;
  prompts: PromptRoom;
  /** Null where `security.allow_shell_checks` is false. */
  shell: ShellExecutor | null;
  now(): number;
}

/** `aborted` says why the run may not go on: a shell check where the operator allows none (Orchestration 4.5). */
export type Checked = { ok: true; checks: CheckResult[] } | { ok: false; aborted: string };

/** Runs a step's deterministic checks at the same time, where its run has not too many calls open. */
export async function runChecks(deps: CheckDeps, begun: Begun, subject: Subject): Promise<Checked> {
  const { step, run, name } = begun;
  const declared = 'deterministic_checks' in step ? step.deterministic_checks : [];
  if (declared.length === 0) return { ok: true, checks: [] };
  const forbidden = deps.shell === null ? declared.find(({ type }) => type === 'shell') : undefined;
  if (forbidden)
    return { ok: false, aborted: `check ${forbidden.name} is a shell check and security.allow_shell_checks is false` };
  const values = () => runValues(run, deps.now(), { ...begun.locals, ...answerValues(subject) });
  const checks = await Promise.all(
    declared.map(async (check) => {
      using _ = await enterCall(run, subject.signal);
      const missing = noteMissing(`check ${check.name}`, begun);
      return await runCheck(deps, check, { values, owner: ownerOf(run), run, signal: subject.signal, missing });
    }),
  );
  for (const { name: check, passed, detail } of checks) {
    const message = passed ? `check ${check} passed` : `check ${check} failed: ${detail}`;
    run.journal.add(passed ? 'info' : 'warn', 'check_ran', message, { step_name: name, check, passed });
  }
  return { ok: true, checks };
}

interface CheckScope extends Pick<Rendering, 'missing' | 'owner'> {
  /** Made where they are read: nothing holds them while a check waits. */
  values(): Rendering['values'];
  run: ActiveRun;
  signal: AbortSignal;
}

async function runCheck(deps: CheckDeps, check: Check, scope: CheckScope): Promise<CheckResult> {
  const startedAt = deps.now();
  const message = `no result within ${check.timeout_seconds} s`;
  const after = check.timeout_seconds * 1000;
  using deadline = withDeadline({ after, why: 'call_timeout', message, follows: scope.signal });
  const { signal } = deadline;
  const seen = await observe(deps, check, { ...scope, signal });
  const { request } = seen;
  const about = {
    name: check.name,
    type: check.type,
    durationSeconds: (deps.now() - startedAt) / 1000,
    startedAt,
    ...(request && { request }),
  };
  if (!seen.ok) {
    const timedOut = stopReason(signal)?.why === 'call_timeout';
    return { ...about, passed: false, detail: timedOut ? message : deps.env.mask(seen.message) };
  }
  const result = await weigh(deps, check, { ...scope, seen });
  if (!result.ok)
    return { ...about, passed: false, detail: `${cut(check.expect, 500)}: ${cut(deps.env.mask(result.msg), 500)}` };
  return {
    ...about,
    passed: result.value === true,
    detail: `${cut(check.expect, 500)} with ${deps.env.mask(seen.detail)}`,
  };
}

/** What a check got; its text waits in memory, and what is read from it takes far more. */
interface Got {
  ok: true;
  text: string;
  /** Values that are read from it. */
  values: number;
  read(): Record<string, unknown>;
  detail: string;
}

type Seen = (Got | Failure) & { request?: TriedRequest };

/** Many may be answered in one moment, at length: of a run and its sub-runs one answer at a time is read and weighed. */
async function weigh(
  { prompts, templates }: CheckDeps,
  { expect }: Check,
  { run, values, owner, seen: { text, values: found, read } }: CheckScope & { seen: Got },
): Promise<Evaluated | ComputeLimit> {
  using waits = prompts.hold(run, { raw: null, sends: text.length });
  if (waits.refused) return noRoom(waits.refused);
  return await oneAtATime(run, async () => {
    await templates.turn(run);
    using unread = prompts.hold(run, { raw: null, sends: VALUE_SIZE * found });
    if (unread.refused) return noRoom(unread.refused);
    const answer = read();
    using parsed = prompts.hold(run, { raw: null, sends: sizeOfValues(answer) - VALUE_SIZE * found });
    if (parsed.refused) return noRoom(parsed.refused);
    return await templates.evaluate(expect, { ...values(), ...answer }, owner);
  });
}

const noRoom = ({ message }: Failure): ComputeLimit => computeLimit(`there is no room for what it reads: ${message}`);

const cut = (text: string, most = 200): string => cutShort(text, most);

async function observe(deps: CheckDeps, check: Check, scope: CheckScope): Promise<Seen> {
  if (check.type === 'webhook') return observeUrl(deps, check, scope);
  const given = await renderJson(check.env, { ...renderingOf(deps, scope), field: 'env', env: noEnv(deps.env) });
  if (!given.ok) return given;
  if (!deps.shell) return failure('shell_not_allowed', 'shell checks are not allowed');
  const { signal } = scope;
  const result = await deps.shell({ run: check.run, env: given.value as Record<string, string>, signal });
  if (!result.ok) return result;
  const { exitCode, stdout, stderr } = result;
  return {
    ok: true,
    text: stdout + stderr,
    values: 0,
    read: () => ({ exit_code: exitCode, stdout, stderr }),
    detail: `exit code ${exitCode}${stderr ? `, ${cut(deps.env.mask(stderr))}` : ''}`,
  };
}

function renderingOf({ templates, env }: CheckDeps, { values, missing, owner }: CheckScope): Rendering {
  return { templates, env, values: values(), missing, owner, room: textRoom() };
}

/** In a shell check's `env`, `${NAME}` is the shell's business, not the operator's. */
const noEnv = ({ mask }: PipelineEnv): PipelineEnv => ({ mask, valueOf: () => undefined, verbatim: true });

async function observeUrl(
  deps: CheckDeps,
  check: Extract<Check, { type: 'webhook' }>,
  scope: CheckScope,
): Promise<Seen> {
  const { run, signal } = scope;
  const request = await oneAtATime(run, () => renderRequest(check, renderingOf(deps, scope)));
  if (!request.ok) return request;
  using held = deps.prompts.hold(run, { raw: null, sends: charsOf(request.value) });
  if (held.refused) return held.refused;
  const reply = await deps.http({ ...request.value, ...authorOf(run), signal });
  const { method, url } = request.value;
  const tried = { method, url: shownUrl(url, deps.env.mask), status: reply.ok ? reply.status : null };
  if (!reply.ok) return { ...reply, request: tried };
  const { status, headers, body: text } = reply;
  const read = () => ({ response: { status, headers, body: parseBody(text) } });
  return { ok: true, text, values: valuesIn(text), read, detail: `status ${status}`, request: tried };
}
