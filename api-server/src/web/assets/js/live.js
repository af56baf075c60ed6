import { load, morph, toast } from './page.js';

const address = () => location.pathname + location.search;

/** Links inside a page (`data-soft`) change only its live parts; the address follows, so that it can be shared. */
export function watchSoftLinks() {
  let shown = address();
  document.addEventListener('click', async (event) => {
    const link = event.target.closest?.('a[data-soft]');
    if (!link || event.metaKey || event.ctrlKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    const href = link.getAttribute('href');
    // The address first: a refresh that comes meanwhile asks for what was chosen.
    history.pushState(null, '', href);
    shown = address();
    try {
      await load(href);
      const narrow = matchMedia('(max-width: 1100px)').matches;
      if (narrow && !link.closest('#step')) document.getElementById('step')?.scrollIntoView({ block: 'start' });
    } catch {
      location.assign(href);
    }
  });
  addEventListener('popstate', () => {
    // A place on this page is no other page.
    if (shown === address()) return;
    shown = address();
    load(location.href).catch(() => location.reload());
  });
  showChosen();
}

/** Brings the chosen box of a wide graph into view. */
function showChosen() {
  const scroll = document.querySelector('.graph-scroll');
  const node = scroll?.querySelector('.is-chosen');
  if (!node) return;
  const [box, place] = [scroll.getBoundingClientRect(), node.getBoundingClientRect()];
  if (place.right > box.right || place.left < box.left) scroll.scrollLeft += place.left - box.left - box.width / 2 + place.width / 2;
}

const frameOf = (data) => {
  try {
    return JSON.parse(data);
  } catch {
    return {};
  }
};

/** Follows a running run: every frame asks for the page once more, at most three times a second. */
export function watchStream() {
  const address = document.querySelector('[data-stream]')?.dataset.stream;
  if (!address) return;
  let due = null;
  let busy = false;
  const refresh = async () => {
    due = null;
    if (busy) return later();
    busy = true;
    try {
      await load(location.href);
    } catch {
      toast('This page could not refresh. It will try again.');
    } finally {
      busy = false;
    }
  };
  const later = () => {
    due ??= setTimeout(refresh, 350);
  };
  // Between two events, what goes on still takes time.
  let growing = null;
  const grow = () => {
    const wait = Number(document.querySelector('[data-grow]')?.dataset.grow ?? 0);
    growing = setTimeout(() => {
      if (!document.hidden && document.querySelector('[data-grow]')) later();
      grow();
    }, wait || 5000);
  };
  grow();
  const source = new EventSource(address);
  source.onmessage = (message) => {
    later();
    const frame = frameOf(message.data);
    if (frame.type !== 'run_complete') return;
    source.close();
    clearTimeout(growing);
    toast(`This run is ${frame.status}`);
  };
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) later();
  };
}

const whileVisible = (milliseconds, work) =>
  setInterval(() => {
    if (!document.hidden) work();
  }, milliseconds);

/** Shows one row of a list as it is now. */
export async function refreshRow(id) {
  const html = await (await fetch(location.href)).text();
  const fresh = new DOMParser().parseFromString(html, 'text/html').getElementById(id);
  if (fresh) morph(document.getElementById(id), fresh);
}

/** The list of runs says how many newer ones there are, and only touches rows that are still running. */
export function watchNews() {
  const bar = document.querySelector('[data-news]');
  if (!bar?.dataset.news) return;
  whileVisible(4000, async () => {
    try {
      const response = await fetch(bar.dataset.news);
      if (!response.ok) return;
      const { new: fresh, more } = await response.json();
      bar.hidden = fresh === 0;
      bar.querySelector('[data-news-text]').textContent = `${fresh}${more ? '+' : ''} new ${fresh === 1 ? 'run' : 'runs'}`;
      if (document.querySelector('[data-live-row]')) await refreshRows();
    } catch {
      // The service is away for a moment; the next turn asks again.
    }
  });
}

async function refreshRows() {
  const html = await (await fetch(location.href)).text();
  const page = new DOMParser().parseFromString(html, 'text/html');
  for (const row of document.querySelectorAll('[data-live-row]')) {
    const fresh = page.getElementById(row.id);
    if (fresh) morph(row, fresh);
  }
}

export function watchPoll() {
  const part = document.querySelector('[data-poll]');
  if (!part) return;
  whileVisible(Number(part.dataset.poll), () => load(location.href).catch(() => undefined));
}
