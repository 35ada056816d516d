import type { Random } from './random.ts'

/** The two worlds with the same contents: that of the secured engine, and that of the bare engine behind the gateway. */
export type Side = 'secured' | 'bare'
export const SIDES: readonly Side[] = ['secured', 'bare']

/** The ids of the resources whose permissions give access to a named entity, by resource. */
export type About = Readonly<Record<string, string>>

const UUID = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const ID = new RegExp(`((?:[\\w.-]+:){0,2})(${UUID})`, 'g')
const TOKEN = /<([\w.*@-]+)>/g

/**
 * The names of the entities that both engines have, with the id of each entity at both engines. Requests are written with names
 * (`<task.one>`). In responses, ids are replaced by names, so that the responses of the two engines can be compared.
 */
export class Names {
  readonly #ids = { secured: new Map<string, string>(), bare: new Map<string, string>() }
  readonly #names = { secured: new Map<string, string>(), bare: new Map<string, string>() }
  readonly #about = new Map<string, About>()
  #kinds: Map<string, string[]> | null = null

  define(side: Side, name: string, id: string): void {
    const before = this.#ids[side].get(name)
    if (before !== undefined) this.#names[side].delete(before)
    else this.#kinds = null
    this.#ids[side].set(name, id)
    this.#names[side].set(id, name)
  }

  drop(name: string): void {
    for (const side of SIDES) {
      const id = this.#ids[side].get(name)
      if (id !== undefined) this.#names[side].delete(id)
      this.#ids[side].delete(name)
    }
    this.#kinds = null
  }

  describe(name: string, about: About): void {
    this.#about.set(name, about)
  }

  about(name: string): About {
    return this.#about.get(name) ?? {}
  }

  /** Returns the name of an id, or undefined if the id has no name. */
  nameOf(side: Side, id: string): string | undefined {
    return this.#names[side].get(id)
  }

  /** Returns the id of a name. @throws Error if the name is unknown at this engine */
  idOf(side: Side, name: string): string {
    const id = this.#ids[side].get(name)
    if (id === undefined) throw new Error(`Nothing is named ${name} at the ${side} engine`)
    return id
  }

  has(name: string): boolean {
    return this.#ids.secured.has(name) && this.#ids.bare.has(name)
  }

  /** Returns the names of a kind that both sides know. The names begin with `kind.`. */
  ofKind(kind: string): readonly string[] {
    this.#kinds ??= this.#byKind()
    return this.#kinds.get(kind) ?? []
  }

  /** Returns all names that exist at present, at one side or at both. */
  all(): ReadonlySet<string> {
    return new Set([...this.#ids.secured.keys(), ...this.#ids.bare.keys()])
  }

  /** Returns the names of a kind at one side. The other side may not have its names yet. */
  ofSide(side: Side, kind: string): readonly string[] {
    return [...this.#ids[side].keys()].filter((name) => name.startsWith(`${kind}.`)).sort()
  }

  kinds(): readonly string[] {
    this.#kinds ??= this.#byKind()
    return [...this.#kinds.keys()]
  }

  #byKind(): Map<string, string[]> {
    const kinds = new Map<string, string[]>()
    for (const name of [...this.#ids.secured.keys()].sort()) {
      if (!this.#ids.bare.has(name)) continue
      const kind = name.split('.', 1)[0] ?? ''
      kinds.set(kind, [...(kinds.get(kind) ?? []), name])
    }
    return kinds
  }

  /** Replaces ids with names. An id without a name becomes `<id>`. */
  mask(side: Side, text: string): string {
    return text.replace(ID, (whole, prefix: string, uuid: string) => {
      const name = this.#names[side].get(whole)
      if (name !== undefined) return `<${name}>`
      return `${prefix}<${this.#names[side].get(uuid) ?? 'id'}>`
    })
  }

  /** Replaces names with ids. */
  reveal(side: Side, text: string): string {
    return text.replace(TOKEN, (_, name: string) => this.idOf(side, name))
  }

  /** Replaces every `<kind.*>` with a random name of that kind. */
  choose(text: string, random: Random): string {
    return text.replace(/<(\w+)\.\*>/g, (_, kind: string) => `<${random.pick(this.ofKind(kind))}>`)
  }
}

/** Returns the names that a text contains. */
export function namesIn(text: string): readonly string[] {
  return [...text.matchAll(TOKEN)].map(([, name = '']) => name)
}

/** Returns a JSON value in which each text is replaced by the result of `change`. */
export function mapTexts(value: unknown, change: (text: string) => string): unknown {
  if (typeof value === 'string') return change(value)
  if (Array.isArray(value)) return value.map((one) => mapTexts(one, change))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, mapTexts(one, change)]))
}
