/** Content of an engine that a file cannot contain. */
export interface Omission {
  /** `names of tenants` */
  readonly what: string
  readonly items: readonly string[]
}

/** A file that the gateway reads, from the content of an engine. */
export interface ExportedFile {
  readonly text: string
  readonly omissions: readonly Omission[]
  /** Parses a text as the gateway does, and returns the file that would be written from the result. @throws ConfigError */
  readonly parsed: (text: string) => string
}

/** Returns an omission, or an empty list if there are no items. */
export function omission(what: string, items: readonly string[]): readonly Omission[] {
  return items.length === 0 ? [] : [{ what, items: items.toSorted(compareText) }]
}

/** Compares by UTF-16 code units, so that the order does not depend on the language of the machine. */
export function compareText(one: string, other: string): number {
  return one < other ? -1 : one > other ? 1 : 0
}
