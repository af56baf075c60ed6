/**
 * Runs in the page: texts whose contrast with what is behind them is below WCAG AA (4.5:1; 3:1 from 24 px, or from
 * 18.66 px in bold). Colours are read off a canvas, so every notation counts. Self-contained, since it is sent as source.
 */
export function contrastMisses(): string[] {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true })!;
  const rgba = (color: string): number[] => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data];
  };
  const over = (top: number[], below: number[]): number[] => {
    const alpha = top[3]! / 255;
    return [0, 1, 2].map((i) => top[i]! * alpha + below[i]! * (1 - alpha)).concat(255);
  };
  const behind = (element: Element | null): number[] => {
    if (element === null) return [255, 255, 255, 255];
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 255 ? own : over(own, behind(element.parentElement));
  };
  const luminance = (color: number[]): number => {
    const [r, g, b] = color.slice(0, 3).map((value) => {
      const part = value / 255;
      return part <= 0.03928 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
  };
  const misses: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement!;
    const text = walker.currentNode.textContent!.trim();
    if (text === '' || element.closest('svg, script, .sr') || !element.checkVisibility({ opacityProperty: true }))
      continue;
    const style = getComputedStyle(element);
    const background = behind(element);
    const [light, dark] = [luminance(over(rgba(style.color), background)), luminance(background)].toSorted(
      (a, b) => b - a,
    );
    const size = Number.parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const ratio = (light! + 0.05) / (dark! + 0.05);
    if (ratio < (large ? 3 : 4.5))
      misses.push(`${ratio.toFixed(2)} ${element.className || element.tagName}: ${text.slice(0, 40)}`);
  }
  return misses;
}
