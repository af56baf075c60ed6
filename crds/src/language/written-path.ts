/** A path of keys that a template or expression reads, from the root of the context. */
export interface WrittenPath {
  parts: string[];
  /** The expression asks whether it is there (`has`). */
  guarded: boolean;
}
