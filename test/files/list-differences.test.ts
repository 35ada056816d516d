import t from 'tap'
import { listDifferences } from '../../src/files/list-differences.ts'

const BY_NAME = {
  keyOf: ({ name }: { readonly name: string; readonly value: number }) => name,
  isEqual: (one: { readonly value: number }, other: { readonly value: number }) => one.value === other.value,
}

function itemsOf(texts: readonly string[]) {
  return texts.map((text) => ({ name: text.slice(0, -1), value: Number(text.slice(-1)) }))
}

function differencesOf(before: readonly string[], after: readonly string[]) {
  const work = listDifferences(itemsOf(before), itemsOf(after), BY_NAME)
  let pauses = 0
  for (;;) {
    const step = work.next()
    if (step.done === true) return { ...step.value, pauses }
    pauses += 1
  }
}

t.test('added, removed and changed items are counted, whatever their order', (t) => {
  t.match(differencesOf(['a1', 'b1', 'c1'], ['d1', 'c2', 'a1']), {
    added: 1,
    removed: 1,
    changed: 1,
    examples: [
      { action: 'add', before: null, after: { name: 'd' } },
      { action: 'change', before: { name: 'c', value: 1 }, after: { name: 'c', value: 2 } },
      { action: 'remove', before: { name: 'b' }, after: null },
    ],
  })
  t.match(differencesOf(['a1', 'b1'], ['b1', 'a1']), { added: 0, removed: 0, changed: 0, examples: [] })
  t.end()
})

t.test('all differences are counted, and ten are shown; long lists are compared with pauses', (t) => {
  const many = Array.from({ length: 3000 }, (_, at) => `item-${at}:1`)
  const { added, removed, changed, examples, pauses } = differencesOf([], many)
  t.same([added, removed, changed, examples.length], [3000, 0, 0, 10])
  t.equal(pauses, 6)
  t.end()
})
