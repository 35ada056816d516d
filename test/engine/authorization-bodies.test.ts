import t from 'tap'
import { idOf } from '../differential/admin.ts'
import type { Ask } from '../differential/http.ts'
import { javaSkip } from '../support/requirements.ts'
import { startSecuredPair } from './secured-pair.ts'

const FIT = { userId: 'z', resourceType: 7, resourceId: '*', permissions: ['READ'] }
const BODIES: readonly object[] = [
  FIT,
  { ...FIT, permissions: ['READ_INSTANCE'] },
  { ...FIT, permissions: ['READ', 'NOPE'] },
  { ...FIT, permissions: [null] },
  { ...FIT, permissions: [] },
  { ...FIT, permissions: undefined },
  { ...FIT, resourceType: 4, permissions: ['ACCESS'] },
  { ...FIT, resourceType: 99 },
  { ...FIT, resourceType: 99, permissions: ['NOPE'] },
  { ...FIT, resourceType: undefined, permissions: undefined },
  { ...FIT, groupId: 'g' },
  { ...FIT, groupId: 'g', permissions: undefined },
  { ...FIT, groupId: 'g', resourceType: 4, permissions: ['ACCESS'] },
  { ...FIT, groupId: 'g', permissions: ['NOPE'] },
  { ...FIT, userId: undefined },
  { ...FIT, userId: null, groupId: null },
  { ...FIT, removalTime: '2026-01-31T12:00:00.000+0000', id: 'another', rootProcessInstanceId: 'x' },
  {},
  { type: 9 },
]

const CREATED = BODIES.filter((_, at) => [0, 4, 16].includes(at))

const CHECKS = [
  '',
  'resourceType=x',
  'resourceType=4',
  'permissionName=READ',
  'permissionName=READ&resourceName=x',
  ...['NOPE', 'ACCESS', 'READ', 'ALL', ''].flatMap((name) =>
    [4, 6, 7, 19, 99].map((type) => `permissionName=${name}&resourceName=x&resourceType=${type}`),
  ),
]

const on = (...permissions: readonly string[]) => ({ resourceType: 4, permissions })
const CALLERS = [
  { user: 'nothing', records: [] },
  { user: 'reader', records: [on('READ')] },
  { user: 'creator', records: [on('READ', 'CREATE')] },
  { user: 'updater', records: [on('READ', 'UPDATE')] },
  { user: 'blind', records: [on('UPDATE')] },
]

t.test(
  'errors of authorization requests are those of a secured engine, in the same order',
  { skip: javaSkip },
  async (t) => {
    const { admin, open } = await startSecuredPair(t, 'camunda')
    const stored = { type: 1, userId: 'q', resourceType: 7, resourceId: '*', permissions: ['READ'] }
    const id = idOf(await admin.call('POST', '/authorization/create', stored))
    const { engine, gateway } = await open([
      ...CALLERS,
      { user: 'single', records: [{ ...on('READ'), resourceId: id }] },
    ])
    const asks: readonly Ask[] = [
      ...BODIES.flatMap((body): readonly Ask[] => [
        { method: 'PUT', path: `/authorization/${id}`, body },
        { method: 'PUT', path: '/authorization/unknown', body },
      ]),
      ...CHECKS.flatMap((query): readonly Ask[] => [
        { method: 'GET', path: `/authorization/check?${query}` },
        { method: 'GET', path: `/authorization/check?${query}&userId=other` },
      ]),
    ]
    for (const user of [...CALLERS.map((caller) => caller.user), 'single'])
      await t.test(user, async (t) => {
        for (const ask of [...asks, ...createsFor(user)]) {
          const { status, body } = await engine(user, ask)
          const here = await gateway(user, ask)
          t.same(
            [here.status, here.body],
            [status, body],
            `${ask.method} ${ask.path} ${JSON.stringify(ask.body)}`,
          )
        }
      })
  },
)

/**
 * Returns the requests that create records. The user `creator` may create records, and therefore sends only bodies that are refused.
 * Otherwise the request to the second side would create a duplicate of the record of the first side.
 */
function createsFor(user: string): readonly Ask[] {
  const bodies = user === 'creator' ? BODIES.filter((body) => !CREATED.includes(body)) : BODIES
  return bodies.map((body) => ({ method: 'POST', path: '/authorization/create', body: { type: 1, ...body } }))
}
