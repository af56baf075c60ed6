/**
 * Which folder may import what. Read by oxlint.config.ts to make the lint rules, and by walls-self-test.ts, which
 * plants every `violation` and fails unless the linter reports it.
 */
export interface Wall {
  /** One sentence, shown with the lint error. */
  readonly message: string;
  /** Folders to which the wall applies, with everything below them. */
  readonly inside: readonly string[];
  /** Folders below `inside` that are let through. */
  readonly except?: readonly string[];
  /** What may not be imported: a regular expression over the specifier, or globs in the manner of a .gitignore. */
  readonly forbid: string | readonly string[];
  /** True: type imports are allowed, as they do not exist at run time. */
  readonly allowTypes?: boolean;
  /** True: the wall applies to tests too. */
  readonly tests?: boolean;
  /** A file that breaks the wall, and one that comes close and does not. */
  readonly violation: Planted;
  readonly allowed: Planted;
}

export interface Planted {
  readonly file: string;
  readonly code: string;
}

const SERVICES = ['api-server/src', 'gateway/src', 'controller/src'];
const ROOMS = 'store runs analytics triggers definitions executors schedules notify chat versions observability'.split(
  ' ',
);
const BELOW_SERVICE = `(${ROOMS.join('|')}|boot)/`;
const CORE = ['triggers', 'runs', 'analytics', 'definitions'].map((room) => `api-server/src/${room}`);
const planted = (file: string, specifier: string): Planted => ({ file, code: `import '${specifier}';\n` });

export const WALLS: readonly Wall[] = [
  {
    message: 'The contract imports zod, yaml and the parsers of the languages in a definition, nothing else.',
    inside: ['crds/src'],
    except: ['crds/src/cli', 'crds/src/process'],
    forbid: [
      '*',
      ...['./**', '../**', 'node:crypto', 'zod', 'yaml', 're2js', 'handlebars', 'croner', 'ajv', 'ajv/**'].map(
        (name) => `!${name}`,
      ),
      '!ajv-formats',
      '!@marcbachmann/cel-js',
      './process/**',
      '../process/**',
    ],
    violation: planted('crds/src/planted.ts', 'node:fs'),
    allowed: planted('crds/src/planted-allowed.ts', 'zod'),
  },
  {
    message: 'The contract knows no service.',
    inside: ['crds/src'],
    forbid: '(^|/)(api-server|gateway|controller|e2e)/',
    tests: true,
    violation: planted('crds/src/cli/planted.ts', '../../../gateway/src/main.ts'),
    allowed: planted('crds/src/cli/planted-allowed.ts', '../index.ts'),
  },
  {
    message: 'What processes do alike is imported as @signalbox/crds/process/NAME: the contract itself does no I/O.',
    inside: ['crds/src'],
    // The contract's own commands are processes, too.
    except: ['crds/src/process', 'crds/src/cli'],
    forbid: '(^|/)process/',
    tests: true,
    violation: planted('crds/src/planted-process.ts', './process/tracing.ts'),
    allowed: planted('crds/src/process/planted-allowed.ts', '../process/tracing.ts'),
  },
  {
    message: 'Import the contract as @signalbox/crds; services do not import each other.',
    inside: [...SERVICES, 'e2e'],
    // Fuzzing gives deliveries to the service's own reader; the faults program reads the rows of a dead service with the service's own store; the bench makes a history with it; the charts hold the services' configuration.
    except: ['e2e/checks', 'e2e/faults', 'e2e/charts', 'e2e/fuzz', 'e2e/bench/history'],
    forbid: '^\\.\\./(.*/)?(crds|api-server|gateway|controller)/',
    tests: true,
    violation: planted('gateway/src/planted.ts', '../../api-server/src/main.ts'),
    allowed: planted('gateway/src/planted-allowed.ts', '@signalbox/crds'),
  },
  {
    message: 'Pure rules do not know the adapters: take what you need as an argument.',
    inside: CORE,
    allowTypes: true,
    forbid: '^\\.\\./(.*/)?(store|service|web|boot|executors|observability|config)/',
    violation: planted('api-server/src/runs/planted.ts', '../store/planted.ts'),
    allowed: planted('api-server/src/runs/planted-allowed.ts', './planted-other.ts'),
  },
  {
    message: 'Routes and the server import service/ and nothing below it.',
    inside: ['api-server/src/web'],
    except: ['api-server/src/web/pages'],
    forbid: `^(\\.\\./)+${BELOW_SERVICE}`,
    violation: planted('api-server/src/web/planted-below.ts', '../store/planted.ts'),
    allowed: planted('api-server/src/web/planted-service.ts', '../service/planted.ts'),
  },
  {
    message: 'Pages import service/ and nothing below it.',
    inside: ['api-server/src/web/pages'],
    // Folders of pages share their names with the rooms below.
    forbid: `^(\\.\\./){3,}${BELOW_SERVICE}`,
    violation: planted('api-server/src/web/pages/runs/planted.ts', '../../../store/planted.ts'),
    allowed: planted('api-server/src/web/pages/runs/planted-allowed.ts', '../definitions/planted.ts'),
  },
  {
    message: 'Use cases know no HTTP, no templates and nobody who calls them.',
    inside: ['api-server/src/service'],
    forbid: '^(fastify|@fastify/.*|handlebars)(/|$)|^\\.\\./(.*/)?(web|boot)/',
    violation: planted('api-server/src/service/planted.ts', '../web/planted.ts'),
    allowed: planted('api-server/src/service/planted-allowed.ts', '../store/planted.ts'),
  },
  {
    message: 'What use cases are made of does not know them.',
    inside: ROOMS.map((room) => `api-server/src/${room}`),
    forbid: '^\\.\\./(.*/)?(service|web)/',
    violation: planted('api-server/src/store/planted-up.ts', '../service/planted.ts'),
    allowed: planted('api-server/src/store/planted-beside.ts', '../runs/planted.ts'),
  },
  {
    message: 'SQL lives in store/.',
    inside: SERVICES,
    except: ['api-server/src/store'],
    forbid: '^(kysely|pg|node:sqlite)(/|$)',
    violation: planted('api-server/src/web/planted-sql.ts', 'kysely'),
    allowed: planted('api-server/src/store/planted-allowed.ts', 'node:sqlite'),
  },
  {
    message: 'Mail is sent in notify/.',
    inside: SERVICES,
    except: ['api-server/src/notify'],
    forbid: '^nodemailer(/|$)',
    violation: planted('api-server/src/runs/planted-mail.ts', 'nodemailer'),
    allowed: planted('api-server/src/notify/planted-allowed.ts', 'nodemailer'),
  },
  {
    message: 'Fastify lives in web/ (http/ of the other services).',
    inside: SERVICES,
    except: ['api-server/src/web', 'gateway/src/http', 'controller/src/http'],
    forbid: '^(fastify|@fastify/.*|fastify-.*)(/|$)',
    violation: planted('api-server/src/executors/planted.ts', 'fastify'),
    allowed: planted('api-server/src/web/planted-allowed.ts', 'fastify'),
  },
  {
    message: 'The MCP client lives in gateway/src/tools/, the server in api-server/src/web/mcp/.',
    inside: SERVICES,
    except: ['gateway/src/tools', 'api-server/src/web/mcp'],
    forbid: '^@modelcontextprotocol/',
    violation: planted('gateway/src/http/planted.ts', '@modelcontextprotocol/sdk/client/index.js'),
    allowed: planted('gateway/src/tools/planted-allowed.ts', '@modelcontextprotocol/sdk/client/index.js'),
  },
  {
    message: 'Model providers live in gateway/src/models/.',
    inside: SERVICES,
    except: ['gateway/src/models'],
    forbid: '^(ai|@ai-sdk/.*)(/|$)',
    violation: planted('gateway/src/tools/planted.ts', '@ai-sdk/openai'),
    allowed: planted('gateway/src/models/planted-allowed.ts', 'ai'),
  },
  {
    message: 'Metrics live in observability/.',
    inside: ['crds/src', ...SERVICES],
    except: ['api-server/src/observability', 'gateway/src/observability', 'controller/src/observability'],
    forbid: '^prom-client(/|$)',
    violation: planted('gateway/src/models/planted.ts', 'prom-client'),
    allowed: planted('gateway/src/observability/planted-allowed.ts', 'prom-client'),
  },
  {
    message: 'OpenTelemetry is set up in crds/src/process/.',
    inside: ['crds/src', ...SERVICES],
    except: ['crds/src/process'],
    forbid: '^@opentelemetry/',
    violation: planted('gateway/src/observability/planted-traces.ts', '@opentelemetry/api'),
    allowed: planted('crds/src/process/planted-traces.ts', '@opentelemetry/api'),
  },
  {
    message: 'The Kubernetes client lives in controller/src/kube/.',
    inside: ['crds/src', ...SERVICES],
    except: ['controller/src/kube'],
    forbid: '^@kubernetes/',
    tests: true,
    violation: planted('controller/src/planted.ts', '@kubernetes/client-node'),
    allowed: planted('controller/src/kube/planted-allowed.ts', '@kubernetes/client-node'),
  },
];

/** Files that may read the environment; `main.ts` hands it to `config/`. */
export const ENVIRONMENT_READERS = [
  '**/config/**',
  '*/src/main.ts',
  '**/testing/**',
  '**/*.test.ts',
  '**/{start,runner,backup,replay}.mjs',
  'crds/src/{cli,process}/**',
  'e2e/**',
  'config/local/**',
  'charts/**',
];
