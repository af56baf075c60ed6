import { compilePolicy } from '../policy/policy.ts';
import { readConfig } from '../config/load.ts';
import { lintConfig } from './lint-config.ts';

/** A problem of a configuration file; an error would end the start. */
export interface ConfigProblem {
  severity: 'error' | 'warning';
  message: string;
}

/** Checks a configuration file without what it refers to: the files and folders are on the machine that it is for. */
export function checkConfig(path: string): ConfigProblem[] {
  const loaded = readConfig(path);
  if (!loaded.ok) return [{ severity: 'error', message: loaded.message }];
  const { config } = loaded;
  const policy = compilePolicy(config.tool_policy, () => false);
  if (!policy.ok) return [{ severity: 'error', message: policy.message }];
  return lintConfig(config, policy.rules).map((message) => ({ severity: 'warning', message }));
}
