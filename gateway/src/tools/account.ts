import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/** A user of the machine that a process can run as. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
  home: string;
}

/** By name or id; an id needs no entry in /etc/passwd. Null for an unknown name. */
export function findAccount(user: string | number, passwd = readPasswd()): Account | null {
  const rows = passwd.split('\n').map((line) => line.split(':'));
  const row = rows.find(([name, , uid]) => (typeof user === 'number' ? Number(uid) === user : name === user));
  if (row) return { name: row[0] ?? '', uid: Number(row[2]), gid: Number(row[3]), home: row[5] || '/' };
  return typeof user === 'number' ? { name: String(user), uid: user, gid: user, home: '/' } : null;
}

function readPasswd(): string {
  try {
    return readFileSync('/etc/passwd', 'utf8');
  } catch {
    return '';
  }
}

const [CAP_KILL, CAP_SETGID, CAP_SETUID] = [5n, 6n, 7n];

/** Whether this process may start others as another user, and end them. */
export function maySwitchUser(): boolean {
  try {
    const held = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
    return [CAP_KILL, CAP_SETGID, CAP_SETUID].every((cap) => ((BigInt(`0x${held}`) >> cap) & 1n) === 1n);
  } catch {
    return process.getuid?.() === 0;
  }
}

/** Whether an account may open a file, by its mode and the modes of the directories above it. */
export function mayOpen(path: string, account: Account): boolean {
  return permits(path, account, 4) && directoriesAbove(path).every((directory) => permits(directory, account, 1));
}

function permits(path: string, { uid, gid }: Account, bits: number): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (!stat) return false;
  const shift = stat.uid === uid ? 6 : stat.gid === gid ? 3 : 0;
  return ((stat.mode >> shift) & bits) === bits;
}

function directoriesAbove(path: string): string[] {
  const parent = dirname(path);
  return parent === path ? [] : [parent, ...directoriesAbove(parent)];
}
