/** Words of a table definition that the two databases spell differently. */
export interface TableWords {
  /** A whole column type with its key: numbers that grow, never used twice. */
  readonly autoId: string;
  /** 64 bits: times are milliseconds. */
  readonly integer: string;
  readonly real: string;
  /** Compared and sorted by bytes on both, so that an upgrade of a system's locale never breaks an index. */
  readonly text: string;
  readonly bytes: string;
  /** Ends a table; `keyed` one whose rows are only ever found by their primary key. */
  readonly table: string;
  readonly keyed: string;
  /** The statements that make a table of terms by which rows of another are found, under `rowid`, the key `of` that. */
  wordsOf(table: string, of: string): readonly string[];
}
