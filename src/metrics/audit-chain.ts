import { createHmac, hash, randomBytes } from 'node:crypto'

/** A line of a writer. */
export interface ChainedLine {
  readonly writer: string
  readonly sequence: number
  readonly digest: string
}

interface ChainOptions {
  readonly writer?: string
  /** With a key, the digests are HMACs. Null without a key. */
  readonly key?: string | null
  /** Returns the last lines of earlier writers. Called for the first line. */
  readonly predecessors?: () => readonly ChainedLine[]
}

/** The lines of one writer. */
export interface Chain {
  /** Adds three members to the end of a JSON line: `writer`, `sequence` and `digest`. The first line also gets `predecessors`. */
  readonly seal: (line: string) => string
  /** Returns the last line. Null if there is none. */
  readonly last: () => ChainedLine | null
}

/**
 * Creates the chain of one writer. A digest covers its line and, through the digest before it, all earlier lines of the writer. A
 * line that was removed, changed or inserted therefore breaks the chain. The first line names the last lines of earlier writers.
 */
export function createChain({
  writer = randomBytes(6).toString('hex'),
  key = null,
  predecessors = () => [],
}: ChainOptions = {}): Chain {
  const keyed = key === null ? '' : ',"hmac":true'
  let last: ChainedLine | null = null
  return {
    seal: (line) => {
      const sequence = (last?.sequence ?? 0) + 1
      const named = last === null ? `,"predecessors":${JSON.stringify(predecessors())}` : ''
      const open = `${line.slice(0, -1)}${named},"writer":"${writer}","sequence":${sequence}${keyed}`
      const digest = digestOf(last?.digest ?? '', open, key)
      last = { writer, sequence, digest }
      return `${open},"digest":"${digest}"}`
    },
    last: () => last,
  }
}

function digestOf(previous: string, open: string, key: string | null): string {
  const text = `${previous}\n${open}`
  return key === null
    ? hash('sha256', text, 'base64url')
    : createHmac('sha256', key).update(text).digest('base64url')
}

const SEALED =
  /^(.*,"writer":"([\da-f]{12})","sequence":(\d{1,15})(,"hmac":true)?),"digest":"([\w-]{43})"\}$/s
const PREDECESSORS =
  /,"predecessors":\[((?:\{"writer":"[\da-f]{12}","sequence":\d{1,15},"digest":"[\w-]{43}"\},?)*)\],"writer":"[\da-f]{12}","sequence":1(?:,"hmac":true)?$/
const PREDECESSOR = /\{"writer":"([\da-f]{12})","sequence":(\d{1,15}),"digest":"([\w-]{43})"\}/g

/** Returns the last line of each writer in a text, in the order of these lines. Incomplete lines are left out. */
export function lastLinesIn(text: string): readonly ChainedLine[] {
  const last = new Map<string, ChainedLine>()
  for (const line of text.split('\n')) {
    const [, , writer, sequence, , digest] = SEALED.exec(line) ?? []
    if (writer === undefined || digest === undefined) continue
    last.delete(writer)
    last.set(writer, { writer, sequence: Number(sequence), digest })
  }
  return [...last.values()]
}

/** Bytes of a digest that a number represents exactly. */
const NUMBER_BYTES = 6

/** Returns the first 48 bits of a digest, for a metric: a label would create a series for each digest. */
export function digestNumberOf(digest: string): number {
  return Buffer.from(digest, 'base64url').readUIntBE(0, NUMBER_BYTES)
}

/** The result of a line. Its number in the chain is `sequence`. */
export type LineCheck =
  | { readonly result: 'intact' }
  | { readonly result: 'without seal' }
  /** The first line of a writer, whose earlier lines were not given. */
  | { readonly result: 'earlier lines absent'; readonly writer: string; readonly sequence: number }
  | { readonly result: 'lines missing'; readonly writer: string; readonly from: number; readonly to: number }
  | { readonly result: 'changed'; readonly writer: string; readonly sequence: number }
  /** The line has a key and none was given, or the other way round. */
  | { readonly result: 'key absent'; readonly writer: string; readonly sequence: number }
  | { readonly result: 'key expected'; readonly writer: string; readonly sequence: number }

/** A line that must be among the checked lines. */
export interface NamedLine {
  readonly writer: string
  readonly sequence: number
  readonly hasDigest: (digest: string) => boolean
  /** The writer whose first line names it. Null if an option names it. */
  readonly by: string | null
}

/** A line that another one names, and that was not found. */
export interface Unfound extends NamedLine {
  /** `absent`: the writer has no line. `beyond`: its later lines are missing. `other`: the line has another digest. */
  readonly why: 'absent' | 'beyond' | 'other'
  /** Whether the first of all first lines names the writer. The given files may begin after it. */
  readonly isEarliest: boolean
}

interface VerifierOptions {
  /** The keys of the lines. Without a key, lines with a key cannot be checked. */
  readonly keys?: readonly string[]
  /** Lines that must be among the checked lines. */
  readonly expected?: readonly NamedLine[]
}

interface CheckedWriter {
  readonly last: ChainedLine
  /** The key that fits the lines. Null without one. */
  readonly key: string | null
  readonly hasEnd: boolean
  /** Digests of the last lines, because another writer may name one of them later. */
  readonly recent: Map<number, string>
}

interface ReadLine {
  readonly line: ChainedLine
  readonly isKeyed: boolean
  readonly before: CheckedWriter | undefined
}

/** More lines than a file receives while a process that starts writes its first line. */
const MAX_RECENT = 16_384
const END = '"stream":"audit","event":"end"'

/** Checks the lines of audit files in the order in which they were written. */
export class ChainVerifier {
  readonly #writers = new Map<string, CheckedWriter>()
  readonly #keys: readonly string[]
  readonly #pending = new Map<string, NamedLine[]>()
  readonly #other: NamedLine[] = []
  #earliest: ReadonlySet<string> | null = null

  constructor({ keys = [], expected = [] }: VerifierOptions = {}) {
    this.#keys = keys
    for (const line of expected) this.#expect(line)
  }

  get writers(): number {
    return this.#writers.size
  }

  /** The writers whose last line is not an end line. */
  get withoutEnd(): readonly string[] {
    return [...this.#writers].filter(([, { hasEnd }]) => !hasEnd).map(([writer]) => writer)
  }

  check(text: string): LineCheck {
    const [, open = '', writer = '', number = '', keyed, digest = ''] = SEALED.exec(text) ?? []
    if (writer === '') return { result: 'without seal' }
    const line = { writer, sequence: Number(number), digest }
    const isKeyed = keyed !== undefined
    const before = this.#writers.get(writer)
    const key = this.#keyOf(open, { line, isKeyed, before })
    this.#keep(line, open, { key, before })
    return this.#resultOf(line, { isKeyed, isIntact: key !== undefined, previous: before?.last })
  }

  /** Returns the key that fits a line, null for a line without a key, and undefined if its digest is wrong. */
  #keyOf(open: string, { line, isKeyed, before }: ReadLine): string | null | undefined {
    const known = before?.key ?? null
    const keys = !isKeyed ? [null] : known === null ? this.#keys : [known]
    return keys.find((one) => line.digest === digestOf(before?.last.digest ?? '', open, one))
  }

  #keep(
    line: ChainedLine,
    open: string,
    { key, before }: Pick<ReadLine, 'before'> & { readonly key: string | null | undefined },
  ): void {
    const recent = before?.recent ?? new Map<number, string>()
    recent.set(line.sequence, line.digest)
    if (recent.size > MAX_RECENT) recent.delete(recent.keys().next().value ?? 0)
    const hasEnd = open.includes(END)
    this.#writers.set(line.writer, { last: line, key: key ?? before?.key ?? null, hasEnd, recent })
    this.#meet(line)
    if (line.sequence === 1) this.#readPredecessors(open, line.writer)
  }

  #resultOf(
    { writer, sequence }: ChainedLine,
    {
      isKeyed,
      isIntact,
      previous,
    }: {
      readonly isKeyed: boolean
      readonly isIntact: boolean
      readonly previous: ChainedLine | undefined
    },
  ): LineCheck {
    if (isKeyed && this.#keys.length === 0) return { result: 'key absent', writer, sequence }
    if (!isKeyed && this.#keys.length > 0) return { result: 'key expected', writer, sequence }
    const expected = (previous?.sequence ?? 0) + 1
    if (sequence > expected)
      return previous === undefined
        ? { result: 'earlier lines absent', writer, sequence }
        : { result: 'lines missing', writer, from: expected, to: sequence - 1 }
    // The digest covers the number, so a line that is repeated or moved does not fit.
    return isIntact ? { result: 'intact' } : { result: 'changed', writer, sequence }
  }

  /** Returns the lines that others name, and that were not found. Called after the last line. */
  unfound(): readonly Unfound[] {
    const pending = [...this.#pending.values()].flat()
    return [...pending, ...this.#other].map((named) => {
      const last = this.#writers.get(named.writer)?.last
      const why = last === undefined ? 'absent' : last.sequence < named.sequence ? 'beyond' : 'other'
      return { ...named, why, isEarliest: this.#earliest?.has(named.writer) ?? false }
    })
  }

  #readPredecessors(open: string, by: string): void {
    const [, list = ''] = PREDECESSORS.exec(open) ?? []
    const named = [...list.matchAll(PREDECESSOR)].map(([, writer = '', sequence, digest]) => ({
      writer,
      sequence: Number(sequence),
      hasDigest: (other: string) => other === digest,
      by,
    }))
    this.#earliest ??= new Set(named.map(({ writer }) => writer))
    for (const line of named) this.#expect(line)
  }

  #expect(line: NamedLine): void {
    const { writer, sequence, hasDigest } = line
    const known = this.#writers.get(writer)
    if (known === undefined || known.last.sequence < sequence)
      this.#pending.set(writer, [...(this.#pending.get(writer) ?? []), line])
    else if (!hasDigest(known.recent.get(sequence) ?? '')) this.#other.push(line)
  }

  #meet({ writer, sequence, digest }: ChainedLine): void {
    const pending = this.#pending.get(writer)
    if (pending === undefined) return
    const rest = pending.filter((line) => line.sequence > sequence)
    if (rest.length === 0) this.#pending.delete(writer)
    else this.#pending.set(writer, rest)
    for (const line of pending)
      if (line.sequence < sequence || (line.sequence === sequence && !line.hasDigest(digest)))
        this.#other.push(line)
  }
}
