import { expect, test } from 'vitest';
import { createTokenTable } from './tokens.ts';

const token = (name: string) =>
  ({ name, role: 'webhook', team: null, token: `${name}-secret-of-32-characters-0000` }) as const;

test('a secret finds its token each time, and what is not quite a secret never does', () => {
  const { bySecret } = createTokenTable([token('first'), token('second')]);
  for (const _ of [1, 2, 3]) {
    expect(bySecret(token('first').token)?.name).toBe('first');
    expect(bySecret(token('second').token)?.name).toBe('second');
    for (const guess of ['', 'first', token('first').token.slice(0, -1), `${token('first').token} `])
      expect(bySecret(guess)).toBeNull();
  }
});
