import t from 'tap'
import { OPERATIONS } from '../../../src/operations/all.ts'
import { CEILINGS } from '../../../src/operations/ceilings.ts'
import { isResource, RESOURCES } from '../../../src/operations/permissions.ts'
import { isToolOperation } from '../../../src/operations/tool-operations.ts'
import { isRecord, stringIn } from '../../../src/request/value.ts'
import { pickFrom, seeded } from '../../explain/generated-policies.ts'
import { openGateway } from '../../support/open-gateway.ts'
import { connectTools } from '../../support/tool-client.ts'
import { seed } from '../../support/requirements.ts'

const SEED = 20_261_126
const ROUNDS = 13
const CALLERS = ['mary', 'anna', 'ben', 'nobody']
const TOOLS = new Set(OPERATIONS.filter(isToolOperation).map(({ id }) => id))

t.test(
  `the document and the list of tools agree, for ${ROUNDS * CALLERS.length} generated callers`,
  async (t) => {
    const random = seeded(SEED * seed)
    const sizes = new Set<number>()
    for (let round = 0; round < ROUNDS; round += 1) {
      const rule = { ceiling: pickFrom(random, CEILINGS), users: [pickFrom(random, CALLERS)] }
      // A ceiling of `all` without a rate limits nothing, and is no valid rule.
      const ceilings = rule.ceiling === 'all' ? [] : [rule]
      const gateway = await openGateway(t, {
        settings: { apiDocument: {}, mcp: { tools: 'all' }, limits: { ceilings } },
        records: [...new Map(Array.from({ length: 12 }, () => recordLine(random))).values()],
        listen: true,
      })
      for (const user of CALLERS) {
        const { body } = await gateway.ask(user, 'GET /openapi.json')
        const described = operationIdsIn(body).filter((id) => TOOLS.has(id))
        const tools = await (await connectTools(t, gateway.origin, user)).names()
        t.same([...tools].sort(), described.sort(), `round ${round}, ${user}`)
        sizes.add(tools.length)
      }
    }
    t.ok(sizes.size > 10, `lists of ${sizes.size} lengths`)
  },
)

/** Returns a random record, and the key that no other record may have. */
function recordLine(random: () => number): [key: string, line: string] {
  const kind = pickFrom(random, ['grant', 'grant', 'grant', 'revoke'])
  const resource = pickFrom(random, Object.keys(RESOURCES).filter(isResource))
  const permission = pickFrom(random, ['ALL', ...Object.keys(RESOURCES[resource].permissions)])
  const key = `${kind} ${pickFrom(random, CALLERS)} ${resource}:${pickFrom(random, ['*', 'review', 'a'])}`
  return [key, `${key} ${permission}`]
}

function operationIdsIn(document: unknown): string[] {
  const paths = isRecord(document) ? Object.values(Object(document['paths'])) : []
  return paths
    .flatMap((path) => Object.values(Object(path)))
    .flatMap((operation) => stringIn(operation, 'operationId') ?? [])
}
