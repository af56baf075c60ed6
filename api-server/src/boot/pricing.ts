import type { PricingConfig } from '../config/config.ts';
import { readCatalog } from '../executors/model-catalog.ts';
import type { Logs } from '../observability/logger.ts';
import { catalogPrices } from '../runs/state/catalog-prices.ts';
import { NO_PRICES, type PriceOf, priceList } from '../runs/state/cost.ts';

export interface Pricing {
  /** By hand first, then from the catalog. */
  priceOf: PriceOf;
  /** Reads the catalog now and then; resolves when the first try is over. */
  start(): Promise<void>;
  stop(): void;
}

/** Whether anything may have a price, so that budgets of money mean something. */
export const isPriced = (config: PricingConfig | null): boolean =>
  config !== null && (config.models.length > 0 || config.live !== null);

const TRY_MS = 30_000;

/** Prices of the configuration, and of the catalog where it names one; a catalog that fails leaves the last one in force. */
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
      log.info({ models: catalog.length }, 'prices were read from the catalog');
    } catch (error) {
      if (!stopped.signal.aborted)
        log.warn({ err: error }, 'prices cannot be read from the catalog; the last ones stay');
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
