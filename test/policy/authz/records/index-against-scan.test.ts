import t from 'tap'
import type { Principal } from '../../../../src/request/principal.ts'
import type { PermissionCheck } from '../../../../src/policy/authz/decision/permission-check.ts'
import { isAuthorized } from '../../../../src/policy/authz/decision/decide.ts'
import type { AuthorizationRecord } from '../../../../src/operations/authorization-record.ts'
import { keyOf, recordOf, recordsOf } from '../../../support/record-lines.ts'
import { seed } from '../../../support/requirements.ts'

const anna: Principal = { userId: 'anna', groups: ['clerks', 'night'], tenants: [] }

const bits: Readonly<Record<string, number>> = { READ: 2, UPDATE: 4, DELETE: 16, ALL: 2_147_483_647 }
const permsOf = ({ type, permissions }: AuthorizationRecord) =>
  type === 2
    ? permissions.reduce((left, name) => left & ~(bits[name] ?? 0), 2_147_483_647)
    : permissions.reduce((sum, name) => sum | (bits[name] ?? 0), 0)
const mine = ({ userId }: AuthorizationRecord) => userId === 'anna'
const ours = ({ groupId }: AuthorizationRecord) => anna.groups.includes(groupId ?? '')

t.test('the index decides like a scan of all records', async (t) => {
  const random = seeded(20_26 * seed)
  const pick = <T>(list: readonly T[]): T => {
    const item = list[Math.floor(random() * list.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }
  const one = () => {
    const kind = pick(['grant', 'grant', 'revoke', 'global'])
    const subject = kind === 'global' ? '*' : pick(['anna', 'bob', '*', '@clerks', '@night', '@bosses'])
    const names = [...new Set([pick(['READ', 'UPDATE', 'ALL', 'DELETE']), pick(['READ', 'UPDATE'])])].join(
      ',',
    )
    return `${kind} ${subject} ${pick(['TASK', 'PROCESS_INSTANCE'])}:${pick(['*', 'x', 'y'])} ${names}`
  }
  let answers = ''
  for (let round = 0; round < 4_000; round += 1) {
    const drawn = Array.from({ length: Math.floor(random() * 9) }, one)
    const lines = [...new Map(drawn.map((line) => [keyOf(line), line])).values()]
    const options = { revokes: pick(['auto', 'always', 'never'] as const) }
    const check = {
      resource: 'TASK',
      permission: pick(['READ', 'UPDATE']),
      id: pick(['x', '*', null]),
    } as const
    const expected = scan(lines.map(recordOf), options.revokes, check)
    const actual = isAuthorized(recordsOf(lines, options), anna, check)
    if (actual !== expected) t.fail(JSON.stringify({ lines, options, check, expected, actual }))
    answers += actual === null ? '-' : actual ? 'y' : 'n'
  }
  for (const answer of '-yn') t.ok(answers.split(answer).length > 200, `many cases answer ${answer}`)
})

/** Decides as the engine's SQL does, one EXISTS after the other. It is slow. */
function scan(list: readonly AuthorizationRecord[], mode: string, check: PermissionCheck): boolean | null {
  const bit = check.permission === 'READ' ? 2 : 4
  const revokes =
    mode === 'always' ||
    (mode === 'auto' && list.some((r) => r.type === 2 && (mine(r) || r.userId === '*' || ours(r))))
  const ids = check.id === null || check.id === '*' ? ['*'] : [check.id, '*']
  for (const [who, granting, revoking] of [
    [mine, 1, 2],
    [ours, 1, 2],
    [() => true, 0, 0],
  ] as const) {
    for (const id of ids) {
      const here = list.filter((r) => who(r) && r.resourceType === 7 && r.resourceId === id)
      if (here.some((r) => r.type === granting && (permsOf(r) & bit) === bit)) return true
      if (revokes && here.some((r) => r.type === revoking && (permsOf(r) & bit) !== bit)) return false
    }
  }
  return null
}

function seeded(start: number): () => number {
  let state = start
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
