import { expect, test } from 'vitest';
import { pagesWith } from '../fixtures/pages-with.ts';
import { HOSTILE, runDetail, runLine, stepDetail, trustReport } from '../fixtures/runs.ts';

const PROMPT = 'Alert: {{summary}}\nLook at the logs first.';
const times = (seconds: number) => ({
  triggered_at: '2026-11-21T11:00:00.000Z',
  completed_at: new Date(Date.parse('2026-11-21T11:00:00Z') + seconds * 1000).toISOString(),
});
const A = runDetail({ id: 'a', cost: 0.02, trust: 0.8, input_tokens: 900, output_tokens: 80, ...times(9) });
const B = runDetail({
  id: 'b',
  cost: 0.01,
  trust: 0.9,
  input_tokens: 700,
  output_tokens: 90,
  ...times(4),
  rerun_of: 'a',
  steps: [
    stepDetail({
      prompt_hash: 'other',
      trust_report: trustReport({ trust: 0.9 }),
      output: { action: 'scale' },
      raw_response: { prompt: PROMPT.replace('logs', 'metrics') },
    }),
    stepDetail({ step_name: 'close', step_index: 1, status: 'failed' }),
  ],
});
A.steps[0]!.raw_response = { prompt: PROMPT };
const ELSEWHERE = runDetail({ id: 'c', pipeline_name: 'disk' });
const world = { details: [A, B, ELSEWHERE], lines: [A, B].map(({ id }) => runLine({ id })) };

test('two runs stand side by side, and what differs is marked', async () => {
  const { get } = await pagesWith(world);
  const { body } = await get('/ui/runs/a/compare/b');
  expect(body).toContain('Look at the <del>logs</del> first.');
  expect(body).toContain('Look at the <ins>metrics</ins> first.');
  expect(body).toMatch(
    /Trust<\/th>\n<td class="num">0\.80<\/td>\n<td class="num">0\.90<\/td>\n<td class="num tone-good">\+0\.10/,
  );
  expect(body).toMatch(
    /Cost<\/th>\n<td class="num">\$0\.02<\/td>\n<td class="num">\$0\.01<\/td>\n<td class="num tone-good">−\$0\.01/,
  );
  expect(body).toMatch(/Input tokens<\/th>\n<td class="num">900<\/td>\n<td class="num">700<\/td>\n<td[^>]*good">−200/);
  expect(body).toMatch(/Output tokens<\/th>\n<td class="num">80<\/td>\n<td class="num">90<\/td>\n<td[^>]*bad">\+10/);
  expect(body).toMatch(
    /Duration<\/th>\n<td class="num">9\.0 s<\/td>\n<td class="num">4\.0 s<\/td>\n<td[^>]*good">−5\.0 s/,
  );
  expect(body).toContain('other prompt version · other answer');
  expect(body).toContain('only in B');
  expect(body).toContain('href="/ui/runs/b/compare/a"');
});

test('a result that a rerun took over took no time in it', async () => {
  const taken = stepDetail({ raw_response: { loaded: { step_id: 's', status: 'completed' } } });
  const rerun = runDetail({ id: 'b', rerun_of: 'a', steps: [taken] });
  const { get } = await pagesWith({ ...world, details: [A, rerun] });
  const { body } = await get('/ui/runs/a/compare/b');
  const step = body.slice(body.indexOf('class="compare-step"'));
  expect(step).toMatch(/Duration<\/th>\n<td class="num">[\d.]+ m?s<\/td>\n<td class="num">–<\/td>\n<td[^>]*><\/td>/);
});

test('a run and itself have the same answers, folded away', async () => {
  const { get } = await pagesWith(world);
  const { body } = await get('/ui/runs/a/compare/a');
  expect(body).toContain('same answer');
  expect(body).not.toContain('<details class="compare-step" open>');
  expect(body).toContain('Both were asked with the same prompt.');
});

test('runs of two pipelines are compared only when somebody asks for it', async () => {
  const { get } = await pagesWith(world);
  const refused = await get('/ui/runs/a/compare/c');
  expect([refused.statusCode, refused.body.includes('href="/ui/runs/a/compare/c?force')]).toEqual([409, true]);
  expect((await get('/ui/runs/a/compare/c?force=true')).statusCode).toBe(200);
  expect((await get('/ui/runs/a/compare/none')).statusCode).toBe(404);
});

test('the two runs that were ticked in the list are compared, the older one first', async () => {
  const { get } = await pagesWith(world);
  const list = (await get('/ui/runs')).body;
  expect(list).toContain('<input type="checkbox" name="run" value="a" form="chosen"');
  expect(list).toContain('<form id="chosen" class="pick-bar" method="post" action="/ui/runs/bulk">');
  expect(list).toContain('name="action" value="compare"');
  expect((await get('/ui/runs/compare?run=b&run=a')).headers.location).toBe('/ui/runs/a/compare/b');
  for (const query of ['', '?run=a', '?run=a&run=b&run=c']) {
    const { statusCode, body } = await get(`/ui/runs/compare${query}`);
    expect([statusCode, body.includes('Choose two runs')]).toEqual([400, true]);
  }
});

test('a rerun and its original lead to their comparison', async () => {
  const { get } = await pagesWith({ details: [runDetail({ ...A, reruns: [runLine({ id: 'b' })] }), B] });
  for (const id of ['a', 'b']) expect((await get(`/ui/runs/${id}`)).body).toContain('href="/ui/runs/a/compare/b"');
});

test('hostile texts are texts', async () => {
  const hostile = (id: string) =>
    runDetail({
      id,
      summary: HOSTILE,
      steps: [
        stepDetail({ step_name: HOSTILE, summary: `${id}${HOSTILE}`, raw_response: { prompt: `${id} ${HOSTILE}` } }),
      ],
    });
  const { get } = await pagesWith({ details: [hostile('a'), hostile('b')] });
  const { body } = await get('/ui/runs/a/compare/b');
  expect(body).not.toContain('<img src=x');
  expect(body).not.toContain("<script>alert('x')");
});

test.each([
  ['many long steps', 300, 20_000],
  ['one endless step', 1, 900_000],
  ['steps without number', 12_000, 10],
])('%s stay below 500 KB, and every step can be shown alone', async (_what, steps, chars) => {
  const long = (id: string) =>
    runDetail({
      id,
      steps: Array.from({ length: steps }, (_none, index) => {
        const text = `"<${id}${index}>" & '`.repeat(chars / 10);
        return stepDetail({
          step_name: `s${index}`,
          step_index: index,
          output: { text },
          raw_response: { prompt: text },
        });
      }),
    });
  const { get } = await pagesWith({ details: [long('a'), long('b')] });
  const { body } = await get('/ui/runs/a/compare/b');
  expect(Buffer.byteLength(body)).toBeLessThan(500_000);
  const last = await get(`/ui/runs/a/compare/b?step=s${steps - 1}`);
  expect([last.statusCode, Buffer.byteLength(last.body) < 500_000]).toEqual([200, true]);
  expect(last.body).toContain(`<h2>s${steps - 1}</h2>`);
});
