const pad = (n) => String(n).padStart(2, '0');

export function duration(seconds) {
  if (seconds < 0.9995) return `${Math.round(seconds * 1000)} ms`;
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} m ${pad(whole % 60)} s`;
  if (whole < 86400) return `${Math.floor(whole / 3600)} h ${pad(Math.floor((whole % 3600) / 60))} m`;
  return `${Math.floor(whole / 86400)} d ${Math.floor((whole % 86400) / 3600)} h`;
}

export function age(seconds) {
  if (seconds < 5) return 'now';
  const [, unit, suffix] = [[60, 1, 's'], [3600, 60, 'm'], [86400, 3600, 'h'], [1209600, 86400, 'd'], [Infinity, 604800, 'w']].find(([limit]) => seconds < limit);
  return `${Math.floor(seconds / unit)} ${suffix}`;
}

const secondsSince = (iso) => Math.max(0, (Date.now() - Date.parse(iso)) / 1000);
const secondsUntil = (iso) => Math.ceil((Date.parse(iso) - Date.now()) / 1000);
const left = (seconds) => (seconds > 0 ? `${seconds < 60 ? `${seconds} s` : duration(seconds)} left` : 'time is over');
const put = (node, text) => {
  const leaf = node.firstChild;
  if (leaf?.nodeType === Node.TEXT_NODE && node.childNodes.length === 1) leaf.data = text;
};

/** Durations of what still runs and ages grow between two refreshes. */
export function keepClocks() {
  setInterval(() => {
    if (document.hidden) return;
    for (const node of document.querySelectorAll('[data-since]')) put(node, duration(secondsSince(node.dataset.since)));
    for (const node of document.querySelectorAll('[data-until]')) put(node, left(secondsUntil(node.dataset.until)));
    for (const node of document.querySelectorAll('time[data-age]')) put(node, age(secondsSince(node.dateTime)));
  }, 1000);
}
