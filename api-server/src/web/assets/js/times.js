const UTC = /\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC\b/;
const EVERY_UTC = new RegExp(UTC, 'g');
const LEFT_ALONE = 'time, pre, code, textarea, script, style, .yaml, .json-root, [data-utc]';

const format = new Intl.DateTimeFormat('sv-SE', { dateStyle: 'short', timeStyle: 'medium' });
const zones = new Intl.DateTimeFormat('en', { timeZoneName: 'short' });
const zoneOf = (date) => zones.formatToParts(date).find(({ type }) => type === 'timeZoneName').value;
const dateOf = (utc) => new Date(`${utc.slice(0, 19).replace(' ', 'T')}Z`);
const localOf = (utc) => `${format.format(dateOf(utc))} ${zoneOf(dateOf(utc))}`;

function timeOf(utc) {
  const time = document.createElement('time');
  time.dateTime = dateOf(utc).toISOString();
  time.title = utc;
  time.dataset.utc = utc;
  time.textContent = localOf(utc);
  return time;
}

/** Exact times in the zone of the reader; what the server wrote, in UTC, is shown on hover. */
function localise() {
  const walker = document.createTreeWalker(document.getElementById('main'), NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node.data.length < 2000 && UTC.test(node.data) && !node.parentElement.closest(LEFT_ALONE)) found.push(node);
  for (const node of found) {
    const times = node.data.match(EVERY_UTC);
    const parts = node.data.split(EVERY_UTC).flatMap((text, at) => (times[at] ? [text, timeOf(times[at])] : [text]));
    node.replaceWith(...parts);
  }
  for (const time of document.querySelectorAll('main time[title$="UTC"]:not([data-utc])')) localiseTime(time);
}

/** A time that stands as one, with its age, in full or as a time of day. */
function localiseTime(time) {
  const utc = time.title.match(UTC)?.[0];
  if (!utc) return;
  const local = localOf(utc);
  const text = time.childNodes.length === 1 ? time.textContent : '';
  if (text === utc) time.textContent = local;
  if (text === utc.slice(11, 19)) time.textContent = local.slice(11, 19);
  time.title = `${time.title.replace(utc, local)}\n${utc}`;
  time.dataset.utc = utc;
}

export function watchTimes() {
  if (!document.getElementById('main') || new Date().getTimezoneOffset() === 0 && zoneOf(new Date()) === 'UTC') return;
  document.addEventListener('fresh', localise);
  localise();
}
