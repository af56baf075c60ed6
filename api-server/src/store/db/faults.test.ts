import { AppError } from '@signalbox/crds';
import { expect, test } from 'vitest';
import { ConnectionLost, LockBusy, postgresFault, sqliteFault } from './faults.ts';

const said = (code: string) => Object.assign(new Error(code), { code });
const sqliteError = (errcode: number) => Object.assign(new Error('x'), { code: 'ERR_SQLITE_ERROR', errcode });

test.each([
  ['unique violation', '23505', 'conflict'],
  ['foreign key violation', '23503', 'job'],
  ['not null violation', '23502', 'job'],
  ['syntax error', '42601', 'job'],
  ['serialization failure', '40001', 'again'],
  ['deadlock', '40P01', 'again'],
  ['lock timeout', '55P03', 'again'],
  ['disk full', '53100', 'unavailable'],
  ['too many connections', '53300', 'unavailable'],
  ['read-only', '25006', 'unavailable'],
  ['statement timeout', '57014', 'unavailable'],
  ['starting up', '57P03', 'unavailable'],
  ['input or output error', '58030', 'unavailable'],
  ['wrong password', '28P01', 'unavailable'],
  ['backend killed', '57P01', 'lost'],
  ['connection failure', '08006', 'lost'],
])('Postgres: %s (%s) is %s', (_, code, fault) => {
  expect(postgresFault(said(code))).toBe(fault);
});

test.each([
  ['unique violation', 2067, 'conflict'],
  ['primary key violation', 1555, 'conflict'],
  ['foreign key violation', 787, 'job'],
  ['not null violation', 1299, 'job'],
  ['no such table', 1, 'job'],
  ['disk full', 13, 'unavailable'],
  ['failed fsync', 1034, 'unavailable'],
  ['read-only', 8, 'unavailable'],
  ['read-only directory', 1544, 'unavailable'],
  ['damaged', 11, 'unavailable'],
])('SQLite: %s (%i) is %s', (_, errcode, fault) => {
  expect(sqliteFault(sqliteError(errcode))).toBe(fault);
});

test('what a job throws itself is its own', () => {
  for (const error of [
    new AppError('validation', 'no'),
    new TypeError('x'),
    said('ERR_INVALID_ARG_TYPE'),
    'text',
    undefined,
  ]) {
    expect([postgresFault(error), sqliteFault(error)]).toEqual(['job', 'job']);
  }
});

test('a lost connection and a busy lock are told apart', () => {
  expect(postgresFault(new ConnectionLost())).toBe('lost');
  expect(postgresFault(new LockBusy())).toBe('again');
});
