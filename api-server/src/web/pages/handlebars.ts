import { createRequire } from 'node:module';
import type Handlebars from 'handlebars';

/** The library's build in one file: its main entry loads 45, source maps among them, at every start of a service. */
export const handlebars = createRequire(import.meta.url)('handlebars/dist/handlebars.js') as typeof Handlebars;
