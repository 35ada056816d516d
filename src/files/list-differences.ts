/** The differences between two lists, with the first of them as examples. */
export interface ListDifferences<Item> {
  readonly added: number
  readonly removed: number
  readonly changed: number
  readonly examples: readonly ItemDifference<Item>[]
}

/** An item that differs. `before` is null for an added item, and `after` for a removed item. */
export type ItemDifference<Item> =
  | { readonly action: 'add'; readonly before: null; readonly after: Item }
  | { readonly action: 'remove'; readonly before: Item; readonly after: null }
  | { readonly action: 'change'; readonly before: Item; readonly after: Item }

export interface ItemIdentity<Item> {
  /** Items with the same key are the same item. */
  readonly keyOf: (item: Item) => string
  readonly isEqual: (one: Item, other: Item) => boolean
}

const MAX_EXAMPLES = 10
/** The number of items between two pauses. They take less than a millisecond. */
const ITEMS_OF_A_STEP = 500

/** Compares two lists, with pauses. The order of the items does not matter. */
export function* listDifferences<Item>(
  before: Iterable<Item>,
  after: Iterable<Item>,
  { keyOf, isEqual }: ItemIdentity<Item>,
): Generator<undefined, ListDifferences<Item>> {
  const former = new Map<string, Item>()
  const count = { add: 0, remove: 0, change: 0 }
  const examples: ItemDifference<Item>[] = []
  const note = (difference: ItemDifference<Item>): void => {
    count[difference.action] += 1
    if (examples.length < MAX_EXAMPLES) examples.push(difference)
  }
  let seen = 0
  for (const item of before) {
    former.set(keyOf(item), item)
    if ((seen += 1) % ITEMS_OF_A_STEP === 0) yield
  }
  for (const item of after) {
    const key = keyOf(item)
    const from = former.get(key)
    if (from === undefined) note({ action: 'add', before: null, after: item })
    else if (!isEqual(from, item)) note({ action: 'change', before: from, after: item })
    former.delete(key)
    if ((seen += 1) % ITEMS_OF_A_STEP === 0) yield
  }
  for (const item of former.values()) note({ action: 'remove', before: item, after: null })
  return { added: count.add, removed: count.remove, changed: count.change, examples }
}
