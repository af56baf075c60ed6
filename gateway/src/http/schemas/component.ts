import { z } from 'zod';

/** The components of the OpenAPI document. */
export const COMPONENTS = z.registry<{ id: string; examples?: unknown[] }>();

/** Names a schema in the document, with an example of it. */
export function component<Schema extends z.ZodType>(id: string, schema: Schema, example?: z.input<Schema>): Schema {
  COMPONENTS.add(schema, { id, ...(example === undefined ? {} : { examples: [example] }) });
  return schema;
}
