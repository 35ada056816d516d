import type { Random } from '../../differential/random.ts'

/** Some of the fragments, one after the other. */
export function textFrom(random: Random, fragments: readonly string[], most: number): string {
  let text = ''
  for (let left = random.below(most + 1); left > 0; left -= 1) text += random.pick(fragments)
  return text
}

/** Fragments without blanks in them. */
export function words(text: string): readonly string[] {
  return text.split(/[ \n]+/).filter((word) => word !== '')
}
