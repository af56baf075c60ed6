import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../support/start-service.ts';

/** A definition that uses much of the language, to be edited by chance. */
export const WHOLE = readFileSync(join(ROOT, 'config/samples/pipelines/host-incident.yaml'), 'utf8');
