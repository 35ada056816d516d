import type { Random } from '../../differential/random.ts'

/** Joins a random number of the fragments, at most `most`. */
export function textFrom(random: Random, fragments: readonly string[], most: number): string {
  let text = ''
  for (let left = random.below(most + 1); left > 0; left -= 1) text += random.pick(fragments)
  return text
}

/** Splits a text at blanks and line breaks. */
export function words(text: string): readonly string[] {
  return text.split(/[ \n]+/).filter((word) => word !== '')
}
