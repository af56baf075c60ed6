import { ERROR_STATUS } from '@signalbox/crds';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { documentProblems, type OpenApiDocument, operationProblems } from '../../../e2e/support/openapi.ts';
import { as, startTestServer, type TestServer } from './fixtures/server.ts';

let server: TestServer;
let document: OpenApiDocument;
beforeAll(async () => {
  server = await startTestServer();
  document = (await server.app.inject({ url: '/openapi.json', headers: as('viewer') })).json();
});
afterAll(() => server.close());

const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

test('the document is valid OpenAPI 3.1, and each operation is complete', async () => {
  expect(document.openapi).toBe('3.1.0');
  expect(await documentProblems(document)).toEqual([]);
  expect(operationProblems(document)).toEqual([]);
  expect(operations().length).toBeGreaterThan(45);
});

test('the example of an error has a type of its status', () => {
  const wrong = operations().flatMap(({ operationId, responses }) =>
    Object.entries(responses)
      .filter(([status]) => status >= '400')
      .flatMap(([status, { content }]) => {
        const { example, examples = { only: { value: example } } } = content['application/json'] ?? {};
        // The library of MCP refuses in its own words.
        const types = Object.values(examples).flatMap(
          ({ value }) => (value as Partial<ErrorExample>).detail?.type ?? [],
        );
        return types
          .filter((type) => ERROR_STATUS[type] !== Number(status))
          .map((type) => `${operationId} ${status}: ${type}`);
      }),
  );
  expect(wrong).toEqual([]);
});

test('a status with several types of refusal has an example of each', () => {
  const conflict = document.paths['/pipelines']?.['post']?.responses['409'];
  expect(Object.keys(conflict?.content['application/json']?.examples ?? {})).toEqual(['collision', 'managed']);
});

interface ErrorExample {
  detail: { type: keyof typeof ERROR_STATUS };
}
