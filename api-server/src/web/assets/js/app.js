import { keepClocks } from './clock.js';
import { watchKeys } from './keys.js';
import { watchForms } from './forms.js';
import { watchPicks } from './picks.js';
import { watchNews, watchPoll, watchSoftLinks, watchStream } from './live.js';

document.documentElement.classList.add('js');
keepClocks();
watchKeys();
watchForms();
watchPicks();
watchSoftLinks();
watchStream();
watchNews();
watchPoll();
