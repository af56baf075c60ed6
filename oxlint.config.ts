import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'oxlint';
import { ENVIRONMENT_READERS, WALLS, type Wall } from './e2e/checks/walls.ts';

const ROOTS = ['crds/src', 'api-server/src', 'gateway/src', 'controller/src', 'e2e'];
const TESTS = ['**/*.test.ts', '**/*.fixture.ts', '**/fixtures/**', '**/testing/**'];

const within = (folder: string, roots: readonly string[]) => roots.some((root) => `${folder}/`.startsWith(`${root}/`));
const applies = (wall: Wall, folder: string) => within(folder, wall.inside) && !within(folder, wall.except ?? []);

function subfolders(root: string): string[] {
  const path = join(import.meta.dirname, root);
  if (!existsSync(path)) return [];
  const entries = readdirSync(path, { withFileTypes: true });
  return entries.filter((entry) => entry.isDirectory()).map((entry) => `${root}/${entry.name}`);
}

/** A later override replaces the rule of an earlier one, so every folder gets the whole list of its walls. */
function wallsOf(folder: string, files: string[], walls: readonly Wall[]) {
  const patterns = walls
    .filter((wall) => applies(wall, folder))
    .map((wall) => ({
      ...(typeof wall.forbid === 'string' ? { regex: wall.forbid } : { group: [...wall.forbid] }),
      message: wall.message,
      allowTypeImports: wall.allowTypes ?? false,
    }));
  return {
    files,
    rules: { 'no-restricted-imports': patterns.length > 0 ? (['error', { patterns }] as const) : ('off' as const) },
  };
}

/** Pages and MCP have walls of their own inside `web/`, the made history inside the bench; a later folder overrides an earlier one. */
const OWN_WALLS = ['api-server/src/web/pages', 'api-server/src/web/mcp', 'e2e/bench/history'];
const folders = [...ROOTS.flatMap((root) => [root, ...subfolders(root)]), ...OWN_WALLS];
const sourceWalls = folders.map((folder) => wallsOf(folder, [`${folder}/**`], WALLS));
const testWalls = folders.map((folder) =>
  wallsOf(
    folder,
    TESTS.map((glob) => `${folder}/${glob}`),
    WALLS.filter((wall) => wall.tests),
  ),
);

export default defineConfig({
  plugins: ['typescript', 'unicorn', 'oxc', 'import', 'node', 'promise', 'vitest'],
  categories: { correctness: 'error', suspicious: 'error' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  ignorePatterns: ['node_modules', 'data', '**/assets/**', '**/dist/**'],
  rules: {
    complexity: ['error', { max: 10, variant: 'modified' }],
    'max-depth': ['error', { max: 3 }],
    'max-lines': ['error', { max: 300 }],
    'max-params': ['error', { max: 4 }],
    'no-console': 'error',
    'no-shadow': 'off',
    eqeqeq: ['error', 'always', { null: 'ignore' }],
    'prefer-const': 'error',
    'no-var': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'import/no-unassigned-import': 'off',
    'node/no-process-env': 'error',
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    'typescript/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
    'typescript/only-throw-error': 'error',
    'typescript/consistent-type-imports': 'error',
    'typescript/no-non-null-assertion': 'error',
    'typescript/no-unsafe-type-assertion': 'off',
    'no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    'typescript/no-base-to-string': 'off',
    'typescript/unbound-method': 'off',
    'typescript/consistent-return': 'off',
    'typescript/no-misused-spread': 'off',
    'typescript/no-unsafe-enum-comparison': 'off',
    'typescript/require-array-sort-compare': 'off',
    'unicorn/no-array-sort': 'off',
    'unicorn/no-thenable': 'off',
    'unicorn/no-useless-fallback-in-spread': 'off',
    'unicorn/prefer-add-event-listener': 'off',
    'no-new': 'off',
    'no-underscore-dangle': 'off',
    'vitest/no-conditional-expect': 'off',
    'import/no-named-as-default-member': 'off',
    'no-control-regex': 'off',
    'unicorn/consistent-function-scoping': 'off',
    'promise/always-return': 'off',
    'promise/no-callback-in-promise': 'off',
    'vitest/valid-title': 'off',
    'vitest/no-focused-tests': 'error',
    'vitest/expect-expect': 'off',
    'vitest/require-to-throw-message': 'off',
    'vitest/no-disabled-tests': 'error',
  },
  overrides: [
    ...sourceWalls,
    ...testWalls,
    { files: ENVIRONMENT_READERS, rules: { 'node/no-process-env': 'off' } },
    {
      files: TESTS,
      rules: {
        'max-lines': ['error', { max: 500 }],
        'max-params': ['error', { max: 6 }],
        'typescript/no-non-null-assertion': 'off',
        'no-loss-of-precision': 'off',
      },
    },
    { files: ['e2e/**'], rules: { 'typescript/no-non-null-assertion': 'off' } },
    {
      files: ['crds/src/cli/**', 'e2e/**', '**/start.mjs', 'config/local/**', 'charts/**'],
      rules: { 'no-console': 'off' },
    },
    { files: ['*.config.ts'], rules: { 'import/no-default-export': 'off' } },
  ],
});
