/** Returns whether two names can mean the same entity: many databases ignore case, accents and trailing spaces. */
export function isSameName(one: string, other: string): boolean {
  return one === other || foldedName(one) === foldedName(other)
}

/** Returns the form that all spellings of a name share. */
export function foldedName(name: string): string {
  return name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase().trimEnd()
}
