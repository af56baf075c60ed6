import type { Kysely } from 'kysely';
import type { Tables } from '../schema.ts';
import { initial } from './0001-initial.ts';

export interface Migration {
  /** Sorts in the order of application and is never changed once released. */
  id: string;
  up: (db: Kysely<Tables>) => Promise<void>;
}

export const migrations: readonly Migration[] = [{ id: '0001-initial', up: initial }];
