import t from 'tap'
import { type OperationPart, SharedParts } from '../../src/api-document/shared-parts.ts'

function parameter(name: string, type: string): OperationPart {
  return {
    kind: 'parameters',
    name,
    json: JSON.stringify({ name, in: 'query', required: true, schema: { type } }),
  }
}

function repeated(part: OperationPart, count: number): readonly OperationPart[] {
  return Array.from({ length: count }, () => part)
}

t.test('of the parts with one name, the most frequent one is a component', (t) => {
  const [text, number] = [parameter('suspended', 'string'), parameter('suspended', 'number')]
  for (const parts of [
    [...repeated(text, 9), ...repeated(number, 10)],
    [...repeated(number, 10), ...repeated(text, 9)],
  ]) {
    const shared = new SharedParts(parts)
    t.equal(shared.pathOf(number), 'parameters/suspended')
    t.equal(shared.pathOf(text), null)
    t.equal(shared.memberAt('parameters/suspended'), `"suspended":${number.json}`)
  }
  t.end()
})

t.test('a part that would make the document longer as a component is no component', (t) => {
  const rare = parameter('rare', 'string')
  t.equal(new SharedParts([rare]).pathOf(rare), null)
  t.end()
})
