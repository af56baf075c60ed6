import { expect, test } from 'vitest';
import type { Run } from './run.ts';
import { TalkRoom } from './talk-room.ts';

test('where all runs hold too much, the largest of the share that holds most is stopped, and only it', () => {
  const room = new TalkRoom(100);
  const stopped: string[] = [];
  const enter = (name: string, key: string) => {
    const stop: Run['stop'] = ({ type, message }) => void stopped.push(`${name} ${type}: ${message}`);
    return room.enter({ share: { key, isBounded: true }, stop });
  };
  const [small, large] = [enter('small', 'shop'), enter('large', 'shop')];
  const [alone, ended] = [enter('alone', 'pay'), enter('ended', 'pay')];
  ended.grow(60);
  ended.leave();
  small.grow(20);
  large.grow(35);
  alone.grow(40);
  expect(stopped).toEqual([]);
  alone.grow(10);
  expect(stopped).toEqual(['large max_iterations: the run held the most, 35 characters, when all held more than 100']);
  large.grow(1_000);
  small.grow(30);
  expect(stopped).toHaveLength(1);
});
