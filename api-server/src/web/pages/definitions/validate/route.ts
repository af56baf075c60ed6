import { AppError, ERROR_STATUS } from '@signalbox/crds';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { WriteKind } from '../../../../service/definitions/writes.ts';
import { adminOf } from '../../operator.ts';
import { mayChange, type PageContext, sendPage } from '../../page.ts';
import { paths } from '../../paths.ts';
import { fitsForm, validateView, type ValidateInput } from './view.ts';

const KINDS: readonly WriteKind[] = ['Pipeline', 'LibraryStep'];
const EXAMPLE = `name: my-pipeline
description: What it does, in one sentence
stage: testing
trigger:
  match: { alertname: MyAlert }
steps:
  - name: look
    executor: gateway
    agent: machine-reader
    prompt_template: "{{summary}}"
    confidence_threshold: 0.7
`;

/** A text of 256 KiB as a form sends it. */
const FORM_BYTES = 1_048_576;

/** `/ui/validate`: a definition as text, judged as `POST /pipelines/validate` judges it, and written. */
export function registerValidate(app: FastifyInstance, context: PageContext): void {
  const { definitions, definitionWrites } = context.deps;
  const textOf = (kind: WriteKind, name: unknown): string | null => {
    const { byName, stepsByName } = definitions.snapshot();
    const entry = (kind === 'Pipeline' ? byName : stepsByName).get(String(name));
    return entry?.text ?? null;
  };

  app.get('/ui/validate', (request, reply) => {
    const query = request.query as Record<string, unknown>;
    const kind = query['step'] === undefined ? 'Pipeline' : 'LibraryStep';
    const name = query['step'] ?? query['pipeline'];
    const text = textOf(kind, name) ?? EXAMPLE;
    const tooLong = fitsForm(text) ? null : String(name);
    const page = {
      yaml: tooLong === null ? text : '',
      tooLong,
      alone: false,
      result: null,
      saved: null,
      problem: null,
    };
    return sendValidate(context, request, reply, { kind, ...page });
  });

  app.post('/ui/validate', { bodyLimit: FORM_BYTES }, async (request, reply) => {
    const by = await adminOf(context, request, reply);
    if (by === null) return reply;
    const form = (request.body ?? {}) as Record<string, unknown>;
    const kind = KINDS.find((one) => one === form['kind']) ?? 'Pipeline';
    const yaml = String(form['yaml'] ?? '').replaceAll('\r\n', '\n');
    const alone = form['part'] === 'result';
    const page = { kind, yaml, alone, tooLong: null, saved: null, problem: null };
    const result = await definitionWrites.judge(kind, yaml);
    if (form['act'] !== 'save' || !result.valid) return sendValidate(context, request, reply, { ...page, result });
    try {
      const saved = await definitionWrites.create(kind, { yaml, overwrite: form['overwrite'] === 'true' }, by);
      return await sendValidate(context, request, reply, { ...page, result, saved });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      const { type, message } = error;
      return sendValidate(context, request, reply, {
        ...page,
        result,
        problem: { status: ERROR_STATUS[type], message },
      });
    }
  });
}

type Page = Omit<ValidateInput, 'admin' | 'known'>;

function sendValidate(
  context: PageContext,
  request: FastifyRequest,
  reply: FastifyReply,
  page: Page,
): Promise<FastifyReply> {
  const { auth, definitions } = context.deps;
  const { byName, stepsByName } = definitions.snapshot();
  const known = page.kind === 'Pipeline' ? byName : stepsByName;
  return sendPage(context, request, reply, {
    title: 'Validate',
    nav: 'validate',
    template: 'validate',
    model: { ...validateView({ ...page, admin: mayChange(auth.viewer(request)), known }), action: paths.validate() },
    status: page.problem?.status ?? 200,
  });
}
