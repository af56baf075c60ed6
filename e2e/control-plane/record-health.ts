/** `node e2e/control-plane/record-health.ts`: writes the statuses that the test of Argo CD's health checks reads. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { ROOT } from '../support/start-service.ts';
import { recordHealth } from './health-records.ts';

const HEADER = '# Written by `node e2e/control-plane/record-health.ts` from a real API server. Do not edit.\n';
const text = stringify(await recordHealth(), { lineWidth: 120, aliasDuplicateObjects: false });
writeFileSync(join(ROOT, 'config/argocd/recorded-statuses.yaml'), HEADER + text);
