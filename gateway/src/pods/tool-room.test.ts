import { expect, test } from 'vitest';
import { type ToldTools, ToolRoom } from './tool-room.ts';

const toolOf = (name: string, chars = 0, values = 0) => ({
  server: 'img',
  name,
  description: 'd'.repeat(chars),
  inputSchema: { enum: Array.from({ length: values }, () => 0) },
  annotations: {},
});
const podOf = (agent: string): ToldTools => ({ agent, list: null, refused: null });
const OWN = 'the tools of its pods take more memory than those of one agent may';
const ALL = 'the tools of the pods of all agents take more memory than they may';

test('of many pods that say the same one copy is kept', () => {
  const room = new ToolRoom(16_000);
  const pods = Array.from({ length: 100 }, (_, index) => podOf(index % 2 === 0 ? 'a' : 'b'));
  for (const pod of pods) expect(room.tell(pod, [toolOf('x', 1000)])).toBeNull();
  expect(room.lists().size).toBe(1);
  for (const pod of pods) room.leave(pod);
  expect(room.lists().size).toBe(0);
});

test('an agent has the tools that its own pods list, while they do', () => {
  const room = new ToolRoom(16_000);
  const pod = podOf('a');
  room.tell(pod, [toolOf('x')]);
  const asked = [
    ['a', 'img', 'x'],
    ['a', 'img', 'y'],
    ['a', 'k8s', 'x'],
    ['b', 'img', 'x'],
  ] as const;
  expect(asked.map(([agent, server, name]) => room.has(agent, { server, name }))).toEqual([true, false, false, false]);
  room.leave(pod);
  expect(room.has('a', { server: 'img', name: 'x' })).toBe(false);
});

test('the pods of one agent have an eighth of the room, and one that leaves makes room for the others', () => {
  const room = new ToolRoom(16_000);
  const [first, second, other] = [podOf('a'), podOf('a'), podOf('b')];
  expect(room.tell(first, [toolOf('x', 1200)])).toBeNull();
  expect(room.tell(second, [toolOf('y', 1200)])).toMatchObject({ message: OWN, data: { retryable: true } });
  expect([...room.refused()]).toEqual([['a', OWN]]);
  expect(room.tell(other, [toolOf('y', 1200)])).toBeNull();
  room.leave(first);
  expect(room.tell(second, [toolOf('y', 1200)])).toBeNull();
  expect([...room.refused()]).toEqual([]);
  // A new list is in the place of the old one.
  expect(room.tell(second, [toolOf('z', 1200)])).toBeNull();
  expect([...room.lists('a')].flatMap(({ tools }) => tools.map(({ name }) => name))).toEqual(['z']);
});

test('the pods of all agents together have a bound', () => {
  const room = new ToolRoom(16_000);
  const answers = Array.from({ length: 12 }, (_, index) => room.tell(podOf(`a${index}`), [toolOf(`x${index}`, 1400)]));
  const taken = answers.filter((answer) => answer === null).length;
  expect(taken).toBeGreaterThan(6);
  expect(answers.slice(taken)).toEqual(answers.slice(taken).map(() => expect.objectContaining({ message: ALL })));
  expect(room.lists().size).toBe(taken);
});

test('each value of a schema counts, and one pod describes its tools in 2 MiB of characters', () => {
  expect(new ToolRoom(16_000).tell(podOf('a'), [toolOf('x', 0, 60)])).toMatchObject({ message: OWN });
  const room = new ToolRoom(Infinity);
  const pod = podOf('a');
  expect(room.tell(pod, [toolOf('x', 2 * 1024 * 1024)])).toMatchObject({
    message: 'a pod describes its tools in more than 2097152 characters',
    data: { retryable: false },
  });
  expect([pod.list, [...room.refused().keys()]]).toEqual([null, ['a']]);
});
