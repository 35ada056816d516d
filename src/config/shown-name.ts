/**
 * Letters, digits, `-` and `_`, as in names of keys, commands and engines. A password, a hash or a part of one rarely looks like
 * this.
 */
const NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,39}$/

/** Returns whether a text may be printed where a name was expected. Any other text may be a secret that lost its quotes. */
export function isShownName(text: string): boolean {
  return NAME.test(text)
}

/** Returns `needed, not 'given'`. The second part is left out unless the given text looks like a name. */
export function notText(needed: string, given: string): string {
  return isShownName(given) ? `${needed}, not '${given}'` : needed
}

/** Returns `There is no command 'chekc'`. The name is left out unless it looks like one. */
export function unknownText(kind: string, given: string): string {
  return `There is no ${isShownName(given) ? `${kind} '${given}'` : `such ${kind}`}`
}

/** Returns the path of a file for a message. The content of a file that was given instead of its path is not shown. */
export function shownPath(path: string): string {
  return /^\P{Cc}{1,255}$/u.test(path) && !path.includes('-----BEGIN') ? path : '(a path that is not shown)'
}
