import type { Page } from 'playwright-core';

/** Where the focus is, and whether it can be seen there. */
export const focus = (page: Page) =>
  page.evaluate(() => {
    const at = document.activeElement;
    if (at === null || at === document.body) return null;
    const shown = [at, at.closest('.line, tr, .node'), at.querySelector('.node-box')].some((element) => {
      if (!element) return false;
      const { outlineStyle, boxShadow, strokeWidth } = getComputedStyle(element);
      return outlineStyle !== 'none' || boxShadow !== 'none' || strokeWidth === '3px';
    });
    return { name: at.outerHTML.slice(0, 120), shown };
  });
