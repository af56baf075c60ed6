/** Shows that the linter can fail: plants one violation of every wall, and of the rules that a wall leans on. */
import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Planted, WALLS } from './walls.ts';

const ROOT = join(import.meta.dirname, '../..');
const COPIED = ['oxlint.config.ts', 'tsconfig.json', 'package.json', 'e2e/checks/walls.ts'];

interface Expectation {
  readonly name: string;
  readonly file: string;
  /** The rule that must report the file; null where the linter must stay silent. */
  readonly rule: string | null;
}

interface Diagnostic {
  readonly code?: string;
  readonly filename: string;
}

const OTHER_RULES: readonly { name: string; rule: string; planted: readonly Planted[] }[] = [
  {
    name: 'files do not import each other in a circle, types neither',
    rule: 'no-cycle',
    planted: [
      { file: 'gateway/src/circle-a.ts', code: "import type { B } from './circle-b.ts';\nexport type A = { b: B };\n" },
      {
        file: 'gateway/src/circle-b.ts',
        code: "import type { A } from './circle-a.ts';\nexport type B = { a: A } | null;\n",
      },
    ],
  },
  {
    name: 'no promise is left alone (needs types)',
    rule: 'no-floating-promises',
    planted: [
      {
        file: 'gateway/src/floating.ts',
        code: 'const later = async () => 1;\nexport const go = () => {\n  later();\n};\n',
      },
    ],
  },
  {
    name: 'the environment is read in config/ only',
    rule: 'no-process-env',
    planted: [{ file: 'gateway/src/models/environment.ts', code: 'export const home = process.env.HOME;\n' }],
  },
  {
    name: 'a function stays under the complexity limit',
    rule: 'complexity',
    planted: [
      {
        file: 'api-server/src/runs/complex.ts',
        code: `export function pick(n: number): number {\n${Array.from({ length: 11 }, (_, i) => `  if (n === ${i}) return ${i + 1};`).join('\n')}\n  return 0;\n}\n`,
      },
    ],
  },
];

function plant(root: string, { file, code }: Planted): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), code);
}

function plantEverything(root: string): Expectation[] {
  const expectations: Expectation[] = [];
  const expect = (planted: Planted, name: string, rule: string | null) => {
    plant(root, planted);
    expectations.push({ name, file: planted.file, rule });
  };
  for (const wall of WALLS) {
    expect(wall.violation, wall.message, 'no-restricted-imports');
    expect(wall.allowed, wall.message, null);
  }
  for (const { name, rule, planted } of OTHER_RULES) for (const file of planted) expect(file, name, rule);
  return expectations;
}

function lint(root: string): Promise<Diagnostic[]> {
  const oxlint = join(ROOT, 'node_modules/.bin/oxlint');
  return new Promise((resolve, reject) => {
    execFile(oxlint, ['--format=json'], { cwd: root, maxBuffer: 64 << 20 }, (_error, stdout, stderr) => {
      try {
        resolve((JSON.parse(stdout) as { diagnostics: Diagnostic[] }).diagnostics);
      } catch {
        reject(new Error(`the linter gave no report: ${stdout.slice(0, 2000)}${stderr}`));
      }
    });
  });
}

/** Planted files that the linter judged wrongly, one line each; empty when all walls work. */
export async function checkWalls(): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), 'walls-'));
  try {
    for (const file of COPIED) cpSync(join(ROOT, file), join(root, file));
    symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
    const expectations = plantEverything(root);
    const diagnostics = await lint(root);
    const reported = (file: string, rule: string) =>
      diagnostics.some(({ filename, code }) => filename === file && code?.includes(`(${rule})`));
    return expectations.flatMap(({ name, file, rule }) => {
      if (rule !== null) return reported(file, rule) ? [] : [`${file} breaks "${name}", and ${rule} does not say so`];
      return reported(file, 'no-restricted-imports') ? [`${file} keeps "${name}", and the linter complains`] : [];
    });
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
}

if (import.meta.main) {
  const problems = await checkWalls();
  for (const problem of problems) console.error(problem);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
