import { readFileSync } from 'node:fs';
import type { Service } from '../support/start-service.ts';

/** Memory of a service that is resident now (`VmRSS`), or was at most (`VmHWM`). */
export const residentBytes = ({ pid }: Service, field: 'VmRSS' | 'VmHWM' = 'VmRSS'): number =>
  Number(new RegExp(`${field}:\\s+(\\d+) kB`).exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
