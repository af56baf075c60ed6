const boxes = () => [...document.querySelectorAll('[data-pick][name="run"]')];

/** How many rows are ticked, and whether all are. */
function count() {
  const all = boxes();
  const picked = all.filter((box) => box.checked).length;
  for (const place of document.querySelectorAll('[data-picked]')) place.textContent = String(picked);
  for (const button of document.querySelectorAll('[data-pick-two]')) button.hidden = picked !== 2;
  const whole = document.querySelector('[data-pick-all]');
  if (!whole) return;
  whole.checked = picked > 0 && picked === all.length;
  whole.indeterminate = picked > 0 && picked < all.length;
}

/** Ticks the row that has the focus. */
export function pickFocused() {
  const box = document.activeElement?.closest('[data-row]')?.querySelector('[data-pick]');
  if (!box) return;
  box.checked = !box.checked;
  box.dispatchEvent(new Event('change', { bubbles: true }));
}

/** The first action for the ticked rows, which stand after the whole list. */
export function focusActions() {
  if (boxes().some((box) => box.checked)) document.querySelector('.pick-bar button')?.focus();
}

/** With Shift, every row between the last ticked one and this one; the box in the head ticks all. */
export function watchPicks() {
  let last = null;
  document.addEventListener('click', (event) => {
    const box = event.target.closest?.('[data-pick]');
    if (!box || box.matches('[data-pick-all]')) return;
    const all = boxes();
    if (event.shiftKey && last?.isConnected) {
      const [from, to] = [all.indexOf(last), all.indexOf(box)].toSorted((a, b) => a - b);
      for (const between of all.slice(from, to + 1)) between.checked = box.checked;
    }
    last = box;
  });
  document.addEventListener('change', (event) => {
    if (!event.target.matches('[data-pick]')) return;
    if (event.target.matches('[data-pick-all]')) for (const box of boxes()) box.checked = event.target.checked;
    count();
  });
  addEventListener('pageshow', count);
}
