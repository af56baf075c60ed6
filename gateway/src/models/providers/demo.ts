import { createDemoProvider } from '../demo/demo-model.ts';
import type { ModelProvider } from '../model.ts';

/** The scripted stand-in of the quickstart and the tests: no language model, no network. */
export function openDemo(): ModelProvider {
  return createDemoProvider();
}
