/**
 * Runs in the page: text whose contrast with its background is below WCAG AA (4.5:1; 3:1 from 24 px, or from
 * 18.66 px in bold). Colours are read off a canvas, so every notation counts. Self-contained, since it is sent as source.
 */
export function contrastMisses(): string[] {
  type Color = readonly [red: number, green: number, blue: number, alpha: number];
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  if (canvas === null) return ['no canvas to read colours from'];
  const colorOf = (css: string): Color => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = css;
    canvas.fillRect(0, 0, 1, 1);
    const [red = 0, green = 0, blue = 0, alpha = 0] = canvas.getImageData(0, 0, 1, 1).data;
    return [red, green, blue, alpha / 255];
  };
  const over = (top: Color, below: Color): Color => {
    const mix = (a: number, b: number) => a * top[3] + b * (1 - top[3]);
    return [mix(top[0], below[0]), mix(top[1], below[1]), mix(top[2], below[2]), 1];
  };
  const behind = (element: Element | null): Color => {
    if (element === null) return [255, 255, 255, 1];
    const own = colorOf(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(element.parentElement));
  };
  const linear = (value: number) =>
    value / 255 <= 0.03928 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4;
  const luminance = ([red, green, blue]: Color) =>
    0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  const ratioOf = (element: Element, color: string) => {
    const background = behind(element);
    const [a, b] = [luminance(over(colorOf(color), background)), luminance(background)];
    return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
  };
  const neededFor = (style: CSSStyleDeclaration) => {
    const size = Number.parseFloat(style.fontSize);
    return size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
  };

  const misses: string[] = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const element = node.parentElement;
    const text = node.textContent?.trim() ?? '';
    if (element === null || text === '' || element.closest('svg, script, .sr, .toast') || !element.checkVisibility())
      continue;
    const style = getComputedStyle(element);
    const ratio = ratioOf(element, style.color);
    if (ratio < neededFor(style)) misses.push(`${ratio.toFixed(2)} ${element.className}: ${text.slice(0, 40)}`);
  }
  return misses;
}
