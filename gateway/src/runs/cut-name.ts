import { cutShort } from '@signalbox/crds';

/** No name of the api-server is longer. */
const MAX_CHARS = 300;

export const cutName = (name: string): string => cutShort(name, MAX_CHARS);
