import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { VIEWER } from '../../fixtures/fake-deps.ts';
import { pagesWith } from '../../fixtures/pages-with.ts';

const ADMIN = { ...VIEWER, role: 'admin' as const };
const csrf = { _csrf: VIEWER.csrf };
const YAML = 'name: host-load\nsteps:\n  - {name: a}\n';
const ENTRY = { name: 'host-load', file: 'a.yaml', text: YAML, hash: 'h', config: {} };
const definitions = { pipelines: [ENTRY] };
const WRONG = {
  valid: false,
  errors: [{ loc: ['steps', 0, 'executor'], msg: 'is required', line: 3, col: 5 }],
  warnings: [],
};

test('an error stands at its line, and nothing can be saved', async () => {
  const { post, deps } = await pagesWith({ viewer: ADMIN, validation: WRONG });
  const { body } = await post('/ui/validate', { ...csrf, yaml: YAML, act: 'save' });
  expect(body).toContain('<a class="link" href="#L3">line 3</a> <span class="mono">steps.0.executor</span>');
  expect(body).toContain('<tr id="L3" class="is-bad">');
  expect(body).toContain('executor is required');
  expect(body).toContain('1 error. Nothing was written.');
  expect(body).not.toContain('value="save"');
  expect(deps.changes).toEqual([]);
});

test('a valid text can be saved, and replaces a definition only where that is chosen', async () => {
  const { post, deps } = await pagesWith({ viewer: ADMIN, definitions });
  const judged = (await post('/ui/validate', { ...csrf, yaml: YAML, act: 'validate' })).body;
  expect(judged).toContain('value="save"');
  expect(judged).toContain('Replace host-load');
  const saved = (await post('/ui/validate', { ...csrf, yaml: YAML, act: 'save', overwrite: 'true' })).body;
  expect(saved).toContain('It is live. <a class="link" href="/ui/pipelines/host-load">');
  expect(deps.changes).toEqual([{ what: 'replace', target: YAML, by: 'ada' }]);
});

test('a refusal to save is said on the page, with the text still in it', async () => {
  const noChange = new AppError('collision', 'pipeline "host-load" exists');
  const { post } = await pagesWith({ viewer: ADMIN, noChange });
  const { statusCode, body } = await post('/ui/validate', { ...csrf, yaml: YAML, act: 'save' });
  expect(statusCode).toBe(409);
  expect(body).toContain('Pipeline &quot;host-load&quot; exists.');
  expect(body).toContain('name: host-load');
});

test('the text of a loaded pipeline opens to be edited; only admins may', async () => {
  const { get, post } = await pagesWith({ definitions });
  const { body } = await get('/ui/validate?pipeline=host-load');
  expect(body).toContain('- {name: a}');
  expect(body).toContain('needs the role admin');
  expect((await post('/ui/validate', { ...csrf, yaml: YAML, act: 'validate' })).statusCode).toBe(403);
});
