import type { Admin } from './admin.ts'
import { type Made, RECIPES, type RecipeName } from './bundles.ts'
import { type Names, type Side, SIDES } from './names.ts'

type Use = { readonly recipe: RecipeName; readonly form: number }

/** Entities that were created for requests to change. They are kept until a request has changed them. */
export class Stock {
  readonly #admins: Readonly<Record<Side, Admin>>
  readonly #names: Names
  readonly #live = new Map<string, Readonly<Record<Side, Made>>>()

  constructor(admins: Readonly<Record<Side, Admin>>, names: Names) {
    this.#admins = admins
    this.#names = names
  }

  /** Creates the entities of a recipe, or takes the existing ones, and gives them the names `<new.…>`. */
  async prepare({ recipe, form }: Use): Promise<void> {
    const key = `${recipe} ${form}`
    const made = this.#live.get(key) ?? (await this.#make({ recipe, form }))
    this.#live.set(key, made)
    for (const name of this.#names.ofKind('new')) this.#names.drop(name)
    for (const side of SIDES)
      for (const [name, id] of Object.entries(made[side].ids)) this.#names.define(side, name, id)
    for (const [name, about] of Object.entries(made.secured.about)) this.#names.describe(name, about)
  }

  /** Removes entities that a request has changed. The next request gets new ones. */
  use({ recipe, form }: Use): void {
    this.#live.delete(`${recipe} ${form}`)
  }

  clear(): void {
    this.#live.clear()
    for (const name of this.#names.ofKind('new')) this.#names.drop(name)
  }

  isLive(side: Side, id: string): boolean {
    for (const made of this.#live.values()) if (Object.values(made[side].ids).includes(id)) return true
    return false
  }

  async #make({ recipe, form }: Use): Promise<Readonly<Record<Side, Made>>> {
    const make = RECIPES[recipe][form % RECIPES[recipe].length]
    if (make === undefined) throw new Error(`There is no recipe ${recipe} ${form}`)
    const [secured, bare] = await Promise.all([make(this.#admins.secured), make(this.#admins.bare)])
    return { secured, bare }
  }
}
