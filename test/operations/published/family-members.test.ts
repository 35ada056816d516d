import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { CAMUNDA_MEMBERS } from '../../../src/operations/published/engine-families.ts'
import { CAMUNDA_PLACES, type MemberPlace } from '../../../src/operations/published/family-members.ts'
import responses from '../../../src/operations/published/responses.json' with { type: 'json' }

const SCHEMAS: Readonly<Record<string, Readonly<Record<string, string>>>> = responses.schemas

t.test(
  'each published member with the name of Camunda has a place in the responses of its operations',
  async (t) => {
    const published = Object.entries(responses.operations).flatMap(([operation, types]) =>
      Object.values(types).flatMap((type) => membersIn(type).map((path) => ({ operation, path }))),
    )
    t.ok(published.length >= 8)
    for (const { operation, path } of published) {
      const steps = path.split('/')
      const member = steps.pop() ?? ''
      const place = steps.reduce(childOf, CAMUNDA_PLACES.get(operation) ?? null)
      t.ok([...(place?.names.values() ?? [])].includes(member), `${operation} ${path}`)
    }
  },
)

t.test('an operation with places reads, and its responses are not cached', async (t) => {
  for (const id of CAMUNDA_PLACES.keys()) {
    const operation = OPERATIONS.find((one) => one.id === id)
    t.equal(operation?.effect, 'read', id)
    t.equal(operation?.cache, undefined, `${id}: a cached response would survive a change of the setting`)
    t.equal(operation?.newTasks ?? 'none', 'none', id)
  }
})

t.test(
  'no name of Camunda is longer than the name that it replaces, and no name is longer than 40 characters',
  async (t) => {
    for (const [name, camunda] of CAMUNDA_MEMBERS) {
      t.ok(camunda.length <= name.length, name)
      t.match(name, /^[a-z-]{1,40}$/i)
    }
    for (const name of [...CAMUNDA_PLACES.values()].flatMap(stepsOf)) t.match(name, /^[a-z_-]{1,40}$/i)
  },
)

/** Returns the paths to members with the name of Camunda in a type, with `[]` for the items of an array. */
function membersIn(type: string, above: readonly string[] = []): readonly string[] {
  const [, name = '', form = ''] = /^(\w+)(\[\]|\{\})?(?:@.*)?$/.exec(type) ?? []
  if (above.includes(name)) return []
  return Object.entries(SCHEMAS[name] ?? {})
    .flatMap(([member, memberType]) => [
      ...(member.startsWith('camunda') ? [member] : []),
      ...membersIn(memberType, [...above, name]).map((path) => `${member}/${path}`),
    ])
    .map((path) => (form === '' ? path : `${form}/${path}`))
}

function childOf(place: MemberPlace | null, step: string): MemberPlace | null {
  return (step === '[]' ? place?.items : place?.members.get(step)) ?? null
}

function stepsOf({ members, items }: MemberPlace): readonly string[] {
  return [
    ...[...members].flatMap(([name, place]) => [name, ...stepsOf(place)]),
    ...(items === null ? [] : stepsOf(items)),
  ]
}
