import { hash, randomBytes } from 'node:crypto'

/** Adds three members to the end of a JSON line: `writer`, `sequence` and `digest`. */
export type Seal = (line: string) => string

/**
 * Creates the seal of one writer. A digest covers its line and, through the digest before it, all earlier lines of the writer. A
 * line that was removed, changed or inserted therefore breaks the chain.
 */
export function createSeal(writer = randomBytes(6).toString('hex')): Seal {
  let sequence = 0
  let previous = ''
  return function seal(line) {
    sequence += 1
    const open = `${line.slice(0, -1)},"writer":"${writer}","sequence":${sequence}`
    previous = digestOf(previous, open)
    return `${open},"digest":"${previous}"}`
  }
}

function digestOf(previous: string, open: string): string {
  return hash('sha256', `${previous}\n${open}`, 'base64url')
}

const SEALED = /^(.*,"writer":"([\da-f]{12})","sequence":(\d{1,15})),"digest":"([\w-]{43})"\}$/s

interface LastLine {
  readonly sequence: number
  readonly digest: string
}

/** The result of a line. Its number in the chain is `sequence`. */
export type LineCheck =
  | { readonly result: 'intact' }
  | { readonly result: 'without seal' }
  /** The first line of a writer, whose earlier lines were not given. */
  | { readonly result: 'earlier lines absent'; readonly writer: string; readonly sequence: number }
  | { readonly result: 'lines missing'; readonly writer: string; readonly from: number; readonly to: number }
  | { readonly result: 'changed'; readonly writer: string; readonly sequence: number }

/** Checks the lines of audit files in the order in which they were written. */
export class ChainVerifier {
  readonly #last = new Map<string, LastLine>()

  get writers(): number {
    return this.#last.size
  }

  check(line: string): LineCheck {
    const [, open = '', writer = '', number = '', digest = ''] = SEALED.exec(line) ?? []
    if (writer === '') return { result: 'without seal' }
    const sequence = Number(number)
    const last = this.#last.get(writer) ?? { sequence: 0, digest: '' }
    this.#last.set(writer, { sequence, digest })
    if (sequence > last.sequence + 1)
      return last.sequence === 0
        ? { result: 'earlier lines absent', writer, sequence }
        : { result: 'lines missing', writer, from: last.sequence + 1, to: sequence - 1 }
    // The digest covers the number, so a line that is repeated or moved does not fit.
    return digest === digestOf(last.digest, open)
      ? { result: 'intact' }
      : { result: 'changed', writer, sequence }
  }
}
