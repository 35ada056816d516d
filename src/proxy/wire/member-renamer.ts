import type { MemberPlace } from '../../operations/published/family-members.ts'
import { jsonValueOf, stringOf } from '../../request/value.ts'

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const COLON = 0x3a
const OPEN_ARRAY = 0x5b
const END_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const END_OBJECT = 0x7d
const SPACE = ' '
/** The longest name, with its quotation marks, that can be one of the names of places: 40 characters, each written as `\u0000`. */
const MAX_NAME_BYTES = 2 + 6 * 40

/** An object or array at a place. */
interface Container {
  readonly place: MemberPlace
  readonly isObject: boolean
}

/**
 * Renames members of the objects of one JSON document that arrives in chunks. Spaces after the new name replace the other bytes of
 * the old one, so the length of the document does not change. All other bytes stay as they are, whatever the document contains.
 */
export class MemberRenamer {
  /** The containers at places that are open, the innermost one last. There are at most as many as places are deep. */
  readonly #containers: Container[] = []
  /** The number of open containers that are at no place and contain no place. */
  #otherContainers = 0
  /** The place of the next value. Null if it is at no place, as all values in other containers are. */
  #next: MemberPlace | null
  #isNameNext = false
  #isInString = false
  #isEscaped = false
  /** The beginning of a name that the last chunk did not complete. */
  #held = NO_BYTES

  constructor(root: MemberPlace) {
    this.#next = root
  }

  /** Returns the next bytes of the document. Changes the bytes of `chunk`. */
  rename(chunk: Buffer): Buffer {
    const bytes = this.#held === NO_BYTES ? chunk : Buffer.concat([this.#held, chunk])
    this.#held = NO_BYTES
    for (let at = 0; at < bytes.length; ) {
      if (this.#isInString) at = this.#skipString(bytes, at)
      else if (bytes[at] !== QUOTE) this.#readSyntax(bytes[at++])
      else if (!this.#isNameNext) at = this.#beginString(at)
      else {
        const end = endOfString(bytes, at)
        if (end === -1 && bytes.length - at <= MAX_NAME_BYTES) return this.#hold(bytes, at)
        at = end === -1 ? this.#beginString(at) : this.#readName(bytes, at, end)
      }
    }
    return bytes
  }

  /** Returns the rest of a document that ends within a name. */
  end(): Buffer {
    return this.#held
  }

  /** Keeps the beginning of a name for the next chunk. The node's chunk may be a part of a much larger buffer. */
  #hold(bytes: Buffer, at: number): Buffer {
    this.#held = Buffer.from(bytes.subarray(at))
    return bytes.subarray(0, at)
  }

  #beginString(at: number): number {
    this.#isInString = true
    this.#isEscaped = false
    return at + 1
  }

  #skipString(bytes: Buffer, start: number): number {
    let at = start
    for (; at < bytes.length; at += 1) {
      if (this.#isEscaped) this.#isEscaped = false
      else if (bytes[at] === BACKSLASH) this.#isEscaped = true
      else if (bytes[at] === QUOTE) {
        this.#isInString = false
        return at + 1
      }
    }
    return at
  }

  #readName(bytes: Buffer, start: number, end: number): number {
    const place = this.#containers.at(-1)?.place
    if (place === undefined || end - start > MAX_NAME_BYTES) return end
    const name = nameIn(bytes, start, end)
    const newName = place.names.get(name)
    if (newName !== undefined) bytes.write(`"${newName}"`.padEnd(end - start, SPACE), start, 'latin1')
    this.#next = place.members.get(name) ?? null
    return end
  }

  #readSyntax(byte: number | undefined): void {
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) this.#open(byte === OPEN_OBJECT)
    else if (byte === END_OBJECT || byte === END_ARRAY) this.#close()
    else if (byte === COLON) this.#isNameNext = false
    else if (byte === COMMA && this.#otherContainers === 0) this.#beginElement()
  }

  #open(isObject: boolean): void {
    if (this.#next === null) {
      this.#otherContainers += 1
      this.#isNameNext = false
      return
    }
    this.#containers.push({ place: this.#next, isObject })
    this.#beginElement()
  }

  #close(): void {
    if (this.#otherContainers > 0) this.#otherContainers -= 1
    else this.#containers.pop()
    this.#isNameNext = false
    this.#next = null
  }

  #beginElement(): void {
    const container = this.#containers.at(-1)
    if (container === undefined) return
    this.#isNameNext = container.isObject
    this.#next = container.isObject ? null : container.place.items
  }
}

const NO_BYTES = Buffer.alloc(0)

/** Returns the position after the quotation mark that ends a string, or -1 if the bytes end before it. */
function endOfString(bytes: Buffer, opening: number): number {
  for (let at = opening + 1; at < bytes.length; at += 1) {
    if (bytes[at] === BACKSLASH) at += 1
    else if (bytes[at] === QUOTE) return at + 1
  }
  return -1
}

/** Returns the name from its JSON string, or the empty name if it is not valid. The names of places are in ASCII. */
function nameIn(bytes: Buffer, start: number, end: number): string {
  const name = bytes.toString('latin1', start + 1, end - 1)
  if (!name.includes('\\')) return name
  return stringOf(jsonValueOf(`"${name}"`)) ?? ''
}
