import fc from 'fast-check';
import { expect, test } from 'vitest';
import { promptParts } from './prompt.ts';

test('values are told from the text around them', () => {
  expect(promptParts('Alert: disk full', [[7, 16]])).toEqual([
    { text: 'Alert: ', value: false },
    { text: 'disk full', value: true },
  ]);
});

test('whatever the offsets are, the parts are the whole prompt', () => {
  const spans = fc.array(fc.tuple(fc.integer({ min: -5, max: 60 }), fc.integer({ min: -5, max: 60 })));
  fc.assert(
    fc.property(fc.string({ maxLength: 50 }), spans, (prompt, offsets) => {
      expect(
        promptParts(prompt, offsets)
          .map((part) => part.text)
          .join(''),
      ).toBe(prompt);
    }),
  );
});
