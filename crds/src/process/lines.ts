interface Line<Item> {
  waiting: Item[];
  /** The first ones, backwards: to take one from the front of thousands moves all others. */
  first: Item[];
}

/** What waits, in a line for each for whom it waits. The first line has the turn. */
export class Lines<Item> {
  private readonly lines = new Map<string, Line<Item>>();
  private served = '';

  isEmpty(): boolean {
    return this.lines.size === 0;
  }

  add(whose: string, item: Item): void {
    const line = this.lines.get(whose);
    if (line) line.waiting.push(item);
    else this.lines.set(whose, { waiting: [], first: [item] });
  }

  /** The next of who has the turn. */
  take(): Item | undefined {
    const [next] = this.lines;
    if (!next) return undefined;
    const [whose, line] = next;
    if (line.first.length === 0) [line.first, line.waiting] = [line.waiting.toReversed(), line.first];
    const item = line.first.pop();
    if (line.first.length + line.waiting.length === 0) this.lines.delete(whose);
    this.served = whose;
    return item;
  }

  /** Who was served last waits for all others. */
  passTurn(): void {
    const line = this.lines.get(this.served);
    if (line && this.lines.delete(this.served)) this.lines.set(this.served, line);
  }
}
