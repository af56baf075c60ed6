// `helm test`: requests that only a working installation answers.
const { API_SERVER = '', GATEWAY = '', WEBHOOK_TOKEN = '', VIEWER_TOKEN = '' } = process.env;
const alerts = [{ status: 'firing', labels: { alertname: 'HelmTest' }, annotations: {} }];
const WEBHOOK = `${API_SERVER}/webhook?source=alert_router&dry_run=true`;
const ALERT = JSON.stringify({ version: '4', status: 'firing', alerts });

const checks = [
  { what: 'the api-server is ready', url: `${API_SERVER}/ready`, expected: [200] },
  { what: 'the gateway is healthy', url: `${GATEWAY}/health`, expected: [200] },
  // 422: no pipeline matches this alert, but token, payload and route were accepted.
  { what: 'the webhook accepts its token', url: WEBHOOK, token: WEBHOOK_TOKEN, body: ALERT, expected: [200, 202, 422] },
  { what: 'the webhook refuses another token', url: WEBHOOK, token: 'not-a-token', body: ALERT, expected: [401] },
  { what: 'the api-server reaches the gateway', url: `${API_SERVER}/agents`, token: VIEWER_TOKEN, expected: [200] },
];

/** Status and text of an answer; status 0 without an answer. */
async function ask({ url, token, body }) {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) };
  try {
    const answer = await fetch(url, {
      method: body ? 'POST' : 'GET',
      headers,
      body,
      signal: AbortSignal.timeout(15_000),
    });
    return { status: answer.status, text: await answer.text() };
  } catch (error) {
    return { status: 0, text: String(error.cause ?? error) };
  }
}

/** `/agents` answers 200 also when a backend is down, and names it in `errors`. */
const namesTrouble = ({ url }, { text }) => url.endsWith('/agents') && !/"errors":\s*\{\}/.test(text);

let failed = 0;
for (const check of checks) {
  const answer = await ask(check);
  const ok = check.expected.includes(answer.status) && !namesTrouble(check, answer);
  console.log(ok ? `ok     ${check.what}` : `FAILED ${check.what}: ${answer.status} ${answer.text.slice(0, 300)}`);
  failed += ok ? 0 : 1;
}
process.exitCode = failed === 0 ? 0 : 1;
