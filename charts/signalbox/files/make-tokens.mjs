// Creates the token Secret once: existing keys are never changed, missing ones are added. Runs as a hook before
// every install and upgrade, so templates need no random values and two renders are identical.
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, SECRET_NAME: name } = process.env;
const account = process.env.ACCOUNT_DIR ?? '/var/run/secrets/kubernetes.io/serviceaccount';
const namespace = readFileSync(`${account}/namespace`, 'utf8').trim();
const server = process.env.KUBERNETES_API ?? `https://${host.includes(':') ? `[${host}]` : host}:${port}`;
const secrets = `${server}/api/v1/namespaces/${namespace}/secrets`;
const TOKENS = [
  'admin-token',
  'operator-token',
  'viewer-token',
  'webhook-token',
  'reload-token',
  'gateway-admin-token',
  'gateway-invoke-token',
  'gateway-approve-token',
  'gateway-reload-token',
  'session-secret',
];

async function ask(method, url, body, contentType = 'application/json') {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${readFileSync(`${account}/token`, 'utf8').trim()}`,
      'content-type': contentType,
    },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(15_000),
  });
  return { status: response.status, body: await response.json() };
}

/** Missing keys with new values. */
const missing = (data) => TOKENS.filter((key) => !data[key]).map((key) => [key, randomBytes(32).toString('base64url')]);

async function settle() {
  const found = await ask('GET', `${secrets}/${name}`);
  if (found.status === 404) {
    const stringData = Object.fromEntries(missing({}));
    const metadata = { name, namespace, labels: { 'app.kubernetes.io/part-of': 'signalbox' } };
    const made = await ask('POST', secrets, { apiVersion: 'v1', kind: 'Secret', metadata, type: 'Opaque', stringData });
    return { ...made, keys: Object.keys(stringData) };
  }
  if (found.status !== 200) return { ...found, keys: [] };
  const stringData = Object.fromEntries(missing(found.body.data ?? {}));
  if (Object.keys(stringData).length === 0) return { status: 200, keys: [] };
  const { resourceVersion } = found.body.metadata;
  const added = await ask(
    'PATCH',
    `${secrets}/${name}`,
    { metadata: { resourceVersion }, stringData },
    'application/merge-patch+json',
  );
  return { ...added, keys: Object.keys(stringData) };
}

for (let attempt = 1; ; attempt += 1) {
  const { status, body, keys } = await settle().catch((error) => ({
    status: 0,
    body: { message: String(error.cause ?? error) },
    keys: [],
  }));
  if (status === 200 || status === 201) {
    console.log(keys.length === 0 ? `secret ${name} has every key` : `secret ${name}: made ${keys.join(', ')}`);
    break;
  }
  console.error(`secret ${name}: ${status} ${body.message}`);
  // Rights of a new account may not be effective at once; 409 means that another job was faster.
  if (attempt === 10) process.exit(1);
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
