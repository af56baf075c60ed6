import { readFileSync } from 'node:fs';
import { type Operator, Tenancy } from '@signalbox/crds';
import { parse } from 'yaml';
import { z } from 'zod';

/** The parts of the services' configuration files that the rules need; the services check the rest. */
const Relevant = z.looseObject({
  security: z
    .looseObject({
      allow_shell_checks: z.boolean().optional(),
      template_sandbox: z.boolean().optional(),
      pipeline_env: z.array(z.string()).optional(),
    })
    .nullish(),
  tenancy: Tenancy.nullish(),
  providers: z.record(z.string(), z.unknown()).nullish(),
  mcp_servers: z.record(z.string(), z.looseObject({})).nullish(),
});

export interface OperatorFiles {
  /** Configuration files of one or both services. */
  files: readonly string[];
  /** Whether the gateway's is among them: what it leaves out has the gateway's defaults. */
  withGateway: boolean;
}

/**
 * What the operator allows; undefined where no file is given. `home` is the namespace of the release. Throws with the
 * file's name.
 */
export function readOperator({ files, withGateway }: OperatorFiles, home: string): Operator | undefined {
  if (files.length === 0) return undefined;
  const { tenancy, ...read } = files.map(readOne).reduce((all, one) => ({ ...all, ...one }), {});
  const defaults = withGateway ? { providers: ['demo'], mcp_servers: {} } : {};
  return { ...defaults, ...read, tenancy: { ...Tenancy.parse(tenancy ?? {}), home } };
}

/** `tenancy` as written; `readOperator` adds what the file cannot know. */
type Read = Omit<Operator, 'tenancy'> & { tenancy?: Tenancy };

function readOne(file: string): Read {
  const read = Relevant.safeParse(parseFile(file) ?? {});
  if (!read.success)
    throw new Error(`${file}: ${read.error.issues[0]?.path.join('.')}: ${read.error.issues[0]?.message}`);
  const { security, tenancy, providers, mcp_servers: servers } = read.data;
  const { allow_shell_checks, template_sandbox, pipeline_env } = security ?? {};
  return given({
    allow_shell_checks,
    template_sandbox,
    pipeline_env,
    tenancy: tenancy ?? undefined,
    // A gateway without any provider uses the scripted one.
    providers: providers && Object.keys(providers).length > 0 ? Object.keys(providers) : undefined,
    mcp_servers: servers ? serverKinds(servers) : undefined,
  });
}

/** Without undefined values, so that one file does not clear a value of another. */
const given = (operator: Read): Read =>
  Object.fromEntries(Object.entries(operator).filter(([, value]) => value !== undefined));

const serverKinds = (servers: Record<string, object>): Record<string, 'process' | 'image'> =>
  Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, 'image' in server ? 'image' : 'process']));

export function parseFile(file: string): unknown {
  try {
    return parse(readFileSync(file, 'utf8')) as unknown;
  } catch (error) {
    throw new Error(`${file}: ${error instanceof Error ? error.message : String(error)}`, { cause: error });
  }
}
