/** Line icons on a 16 px grid, drawn with the current text colour. */
const SHAPES: Record<string, string> = {
  overview:
    '<rect x="2" y="2" width="5" height="5" rx="1.25"/><rect x="9" y="2" width="5" height="5" rx="1.25"/><rect x="2" y="9" width="5" height="5" rx="1.25"/><rect x="9" y="9" width="5" height="5" rx="1.25"/>',
  runs: '<path d="M6 4h8M6 8h8M6 12h8"/><circle cx="2.75" cy="4" r=".75"/><circle cx="2.75" cy="8" r=".75"/><circle cx="2.75" cy="12" r=".75"/>',
  approvals: '<path d="M9.5 2.5h-5a1 1 0 0 0-1 1v9a1 1 0 0 0 1 1h7a1 1 0 0 0 1-1v-5M6 7.75l2 2 5.25-6"/>',
  pipelines:
    '<circle cx="4" cy="3.75" r="1.75"/><circle cx="4" cy="12.25" r="1.75"/><circle cx="12" cy="6" r="1.75"/><path d="M4 5.5v5M12 7.75c0 2-2.5 2.5-8 2.75"/>',
  steps: '<path d="m8 1.75 6 3-6 3-6-3zM2 8l6 3 6-3M2 11.25l6 3 6-3"/>',
  agents:
    '<rect x="2.5" y="5" width="11" height="8.5" rx="2"/><path d="M8 5V2.25M6 8.5v1.5M10 8.5v1.5M1 8.5v2M15 8.5v2"/>',
  schedules: '<circle cx="8" cy="8" r="6"/><path d="M8 4.5V8l2.5 1.5"/>',
  marking: '<path d="M10.5 2.25 13.75 5.5 6 13.25l-4 .75.75-4zM8.75 4 12 7.25"/>',
  rerun: '<path d="M2.5 8A5.5 5.5 0 1 0 4.5 3.75M4.25 1.5v2.5h2.5"/>',
  file: '<path d="M4 1.75h5L12.5 5v9.25h-8.5zM9 1.75V5h3.5"/>',
  branch:
    '<circle cx="3.5" cy="8" r="1.75"/><circle cx="12.5" cy="3.5" r="1.75"/><circle cx="12.5" cy="12.5" r="1.75"/><path d="M5.25 8c3 0 2.5-4.5 5.5-4.5M5.25 8c3 0 2.5 4.5 5.5 4.5"/>',
  pin: '<path d="M6 2h4M6.75 2v4.25L4.5 9.5h7L9.25 6.25V2M8 9.5v4.75"/>',
  insights: '<path d="M2.25 13.75h11.5M4.25 13.5V9M8 13.5V5.5M11.75 13.5V2.5"/>',
  audit: '<path d="M3.5 1.75h9v12.5h-9zM6 5h4M6 8h4M6 11h2"/>',
  sync: '<path d="M13.25 6.5A5.5 5.5 0 0 0 3.5 5M3.25 2v3.25H6.5M2.75 9.5a5.5 5.5 0 0 0 9.75 1.5M12.75 14v-3.25H9.5"/>',
  search: '<circle cx="7" cy="7" r="4.5"/><path d="m10.5 10.5 3.25 3.25"/>',
  theme: '<circle cx="8" cy="8" r="5.75"/><path d="M8 2.25v11.5a5.75 5.75 0 0 0 0-11.5z" fill="currentColor"/>',
  logout: '<path d="M6 2.5H3.5v11H6M10 5l3 3-3 3M13 8H6.5"/>',
  more: '<circle cx="3.5" cy="8" r=".9"/><circle cx="8" cy="8" r=".9"/><circle cx="12.5" cy="8" r=".9"/>',
  check: '<path d="m3 8.5 3.25 3.25L13 5"/>',
  cross: '<path d="m4 4 8 8M12 4l-8 8"/>',
  half: '<path d="M3 8h10"/>',
  chevron: '<path d="m6 3.5 4.5 4.5L6 12.5"/>',
  back: '<path d="M10 3.5 5.5 8l4.5 4.5"/>',
  alert: '<path d="M8 2 14.5 13.5h-13zM8 6.5v3"/><circle cx="8" cy="11.5" r=".4"/>',
  info: '<circle cx="8" cy="8" r="6"/><path d="M8 7.25V11"/><circle cx="8" cy="5" r=".4"/>',
  tool: '<path d="M10 2.25a3.5 3.5 0 0 0-3.6 4.8L2.25 11.2a1.6 1.6 0 1 0 2.3 2.3l4.1-4.15a3.5 3.5 0 0 0 4.8-3.6l-2.2 2.2-2-.55-.55-2z"/>',
  model: '<path d="M8 1.75 9.6 6.4 14.25 8 9.6 9.6 8 14.25 6.4 9.6 1.75 8 6.4 6.4z"/>',
  arrow: '<path d="M3 8h10M9 4l4 4-4 4"/>',
  queued: '<circle cx="8" cy="8" r="6" stroke-dasharray="2.2 2.5"/><path d="M8 5v3h2.5"/>',
  running: '<circle cx="8" cy="8" r="6" opacity=".35"/><path d="M8 2a6 6 0 0 1 6 6"/>',
  waiting: '<circle cx="8" cy="8" r="6"/><path d="M6.25 6v4M9.75 6v4"/>',
  interrupted: '<path d="M13.5 8A5.5 5.5 0 1 1 11.5 3.75M11.75 1.5v2.5h-2.5"/>',
  completed: '<circle cx="8" cy="8" r="6"/><path d="m5.25 8.25 2 2 3.5-4"/>',
  escalated: '<circle cx="8" cy="8" r="6"/><path d="M8 11V5.25M5.5 7.5 8 5l2.5 2.5"/>',
  failed: '<circle cx="8" cy="8" r="6"/><path d="m5.75 5.75 4.5 4.5M10.25 5.75l-4.5 4.5"/>',
  aborted: '<path d="M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5z"/><path d="M8 5v3.5"/><circle cx="8" cy="10.75" r=".4"/>',
  stopped: '<circle cx="8" cy="8" r="6"/><rect x="6" y="6" width="4" height="4" rx=".5"/>',
  cancelled: '<circle cx="8" cy="8" r="6"/><path d="m4 12 8-8"/>',
  skipped: '<circle cx="8" cy="8" r="6" stroke-dasharray="2 2"/><path d="m6 5.5 2.5 2.5L6 10.5M10.25 5.5v5"/>',
  pending: '<circle cx="8" cy="8" r="6" stroke-dasharray="2 2"/>',
  logo: '<path d="M4 14.5V2.5M4 4h8.5l-2 2.25 2 2.25H4" /><path d="M2 14.5h4"/>',
};

/** All icons as one hidden SVG; pages carry it once and refer to its symbols. */
export const iconSprite: string = `<svg class="sprite" aria-hidden="true" width="0" height="0">${Object.entries(SHAPES)
  .map(([name, shape]) => `<symbol id="i-${name}" viewBox="0 0 16 16">${shape}</symbol>`)
  .join('')}</svg>`;

/** A reference to one icon; unknown names fall back to a plain ring, so that no text ever reaches the markup. */
export const icon = (name: unknown): string => {
  const known = typeof name === 'string' && Object.hasOwn(SHAPES, name) ? name : 'pending';
  return `<svg class="icon icon-${known}" width="16" height="16" aria-hidden="true"><use href="#i-${known}"/></svg>`;
};
