import { expect, test } from 'vitest';
import { missingParts } from './missing-parts.ts';

const BROWSER = { name: 'chromium', projects: ['browser'], debian: ['chromium'] };
const COMPILER = { name: 'a C compiler', projects: ['faults', 'crash'], debian: ['gcc', 'libc6-dev'] };
const HELM = { name: 'Helm', projects: ['charts'], howToGet: 'install Helm 3' };

test('what is left out is named with its reason, and one command installs all that Debian has', () => {
  expect(missingParts([BROWSER, COMPILER, HELM], false)).toBe(
    `left out:
  browser: chromium is not installed
  faults, crash: a C compiler is not installed
  charts: Helm is not installed
to run them too:
  apt-get install chromium gcc libc6-dev
  install Helm 3`,
  );
});

test('with CI=true what is missing is a failure and is called one', () => {
  expect(missingParts([HELM], true)).toContain('MISSING (a failure with CI=true):\n  charts: Helm');
});

test('a machine with everything hears nothing', () => {
  expect(missingParts([], true)).toBe('');
});
