/** The model of a metric's label. */
export type ModelLabel = (model: string | null) => string | null;

const MOST = 500;

/**
 * Backends name models, and a series is kept for ever: after `most` different ones, further models count as `other`. `known`
 * are those that have series.
 */
export function boundedModels(known: Iterable<string>, most = MOST): ModelLabel {
  const seen = new Set(known);
  return (model) => {
    if (model === null || seen.has(model)) return model;
    if (seen.size >= most) return 'other';
    seen.add(model);
    return model;
  };
}
