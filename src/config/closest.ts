/** Returns the candidate that was probably meant, or null if no candidate is close. */
export function closestOf(word: string, candidates: readonly string[]): string | null {
  const ranked = candidates
    .map((candidate) => ({ candidate, distance: distanceOf(word.toLowerCase(), candidate.toLowerCase()) }))
    .sort((one, other) => one.distance - other.distance)
  const [best] = ranked
  if (best === undefined) return null
  return best.distance <= Math.max(1, Math.floor(best.candidate.length / 3)) ? best.candidate : null
}

/**
 * Returns how many letters must be added, removed, replaced or swapped with the next one. Returns Infinity for a word longer than
 * 64 letters.
 */
function distanceOf(from: string, to: string): number {
  if (from.length > 64) return Infinity
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)]
  for (let i = 1; i <= from.length; i += 1) {
    const row = [i]
    for (let j = 1; j <= to.length; j += 1) {
      const isSame = from[i - 1] === to[j - 1]
      const replaced = at(rows, i - 1, j - 1) + (isSame ? 0 : 1)
      const isSwapped = from[i - 1] === to[j - 2] && from[i - 2] === to[j - 1]
      const swapped = isSwapped ? at(rows, i - 2, j - 2) + 1 : Infinity
      row.push(Math.min(at(rows, i - 1, j) + 1, (row[j - 1] ?? Infinity) + 1, replaced, swapped))
    }
    rows.push(row)
  }
  return at(rows, from.length, to.length)
}

function at(rows: readonly (readonly number[])[], row: number, column: number): number {
  return rows[row]?.[column] ?? Infinity
}
