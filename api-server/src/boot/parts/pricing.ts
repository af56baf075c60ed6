import type { Problem, ResolvedPipeline } from '@signalbox/crds';
import type { PricingConfig } from '../../config/config.ts';
import { readCatalog } from '../../executors/model-catalog.ts';
import type { Logs } from '../../observability/logger.ts';
import { catalogPrices } from '../../runs/cost/catalog-prices.ts';
import { NO_PRICES, type PriceOf, priceList } from '../../runs/cost/cost.ts';

export interface Pricing {
  /** The configured price first, then the one of the catalog. */
  priceOf: PriceOf;
  /** Reads the catalog at intervals; resolves after the first attempt. */
  start(): Promise<void>;
  stop(): void;
}

/** A limit of cost where no model can have a price, as a warning. */
export function priceProblems({ name, file, config }: ResolvedPipeline, pricing: PricingConfig | null): Problem[] {
  const priced = pricing !== null && (pricing.models.length > 0 || pricing.live !== null);
  if (priced || config.budget?.max_cost === undefined) return [];
  const msg = 'max_cost has no effect: the service has no pricing.models';
  return [{ severity: 'warning', kind: 'Pipeline', name, file, loc: ['budget', 'max_cost'], msg, reason: 'invalid' }];
}

const TRY_MS = 30_000;

/** Prices of the configuration and of the catalog; when the catalog cannot be read, its last prices stay in use. */
export function createPricing(config: PricingConfig | null, log: Logs['log']): Pricing {
  const byHand = config ? priceList(config.models) : NO_PRICES;
  const live = config?.live ?? null;
  const stopped = new AbortController();
  let fromCatalog = NO_PRICES;
  let timer: NodeJS.Timeout | undefined;

  const read = async (url: string, crossProvider: boolean) => {
    try {
      const catalog = await readCatalog(url, AbortSignal.any([stopped.signal, AbortSignal.timeout(TRY_MS)]));
      fromCatalog = catalogPrices(catalog, { crossProvider });
      log.info({ models: catalog.length }, 'read the prices from the catalog');
    } catch (error) {
      if (!stopped.signal.aborted)
        log.warn({ err: error }, 'prices cannot be read from the catalog; the last prices stay in use');
    }
  };

  return {
    priceOf: (use) => byHand(use) ?? fromCatalog(use),
    start: async () => {
      if (!live) return;
      const { url, crossProvider, refreshSeconds } = live;
      timer = setInterval(() => void read(url, crossProvider), refreshSeconds * 1000);
      timer.unref();
      await read(url, crossProvider);
    },
    stop: () => {
      stopped.abort();
      clearInterval(timer);
    },
  };
}
