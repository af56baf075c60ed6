import { z } from 'zod';
import type { Catalog } from '../runs/cost/catalog-prices.ts';

const MTOK = 1_000_000;
/** What is read of a catalog at most; the largest known one has a megabyte. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Of one token; with more, costs would leave the numbers that can be added. */
const MAX_PER_TOKEN = 1;

/** A price of one token, as text or number; a negative one stands for "it depends". */
const PerToken = z
  .union([z.number(), z.string().min(1)])
  .transform(Number)
  .pipe(z.number().min(0).max(MAX_PER_TOKEN));
const Listed = z.looseObject({
  id: z.string(),
  pricing: z.looseObject({
    prompt: PerToken,
    completion: PerToken,
    input_cache_read: PerToken.optional().catch(undefined),
  }),
});
const Answer = z.looseObject({ data: z.array(z.unknown()) });

/** Reads a list of models in the form of OpenRouter's: `{data: [{id: "maker/model", pricing: {prompt, completion, input_cache_read?}}]}`. Rejects with why. */
export async function readCatalog(url: string, signal: AbortSignal): Promise<Catalog> {
  const response = await fetch(url, { signal, headers: { accept: 'application/json' } });
  if (!response.ok) throw new Error(`the catalog answered ${response.status}`);
  const { data } = Answer.parse(JSON.parse(await textOf(response)));
  return data.flatMap((entry) => {
    const parsed = Listed.safeParse(entry);
    const [provider = '', ...model] = parsed.success ? parsed.data.id.split('/') : [];
    // Variants such as `:free` are offers of their own.
    if (!parsed.success || model.length === 0 || parsed.data.id.includes(':')) return [];
    const { prompt, completion, input_cache_read: cached } = parsed.data.pricing;
    const price = { inputPerMtok: prompt * MTOK, outputPerMtok: completion * MTOK };
    return [
      {
        provider,
        model: model.join('/'),
        ...price,
        ...(cached !== undefined && { cachedInputPerMtok: cached * MTOK }),
      },
    ];
  });
}

async function textOf(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body ?? []) {
    size += chunk.length;
    if (size > MAX_BYTES) throw new Error(`the catalog is larger than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}
