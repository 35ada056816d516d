import t from 'tap'
import { changesDefaultRecords, keepDefaultRecords } from '../../src/handlers/write-default-records.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import type { HandlerContext } from '../../src/pipeline/context.ts'

interface Handled {
  readonly operation: string
  readonly created?: unknown
  /** The names of the parts of a multipart body. */
  readonly parts?: readonly string[] | null
  readonly params?: Readonly<Record<string, string>>
  readonly hasRecords?: boolean
}

const DEPLOYED = {
  id: 'd1',
  deployedProcessDefinitions: { 'review:1': { id: 'review:1' } },
  deployedCaseDefinitions: null,
}
const NOTHING_DEPLOYED = { id: 'd1', deployedProcessDefinitions: null }

function contextOf(
  { operation: id, parts = [], params = {}, hasRecords = true }: Handled,
  done: unknown[] = [],
): Pick<HandlerContext, 'context'> {
  const operation = OPERATIONS.find((one) => one.id === id)
  if (operation === undefined) throw new Error(`no operation ${id}`)
  const context = {
    engine: {
      defaultRecords: hasRecords
        ? {
            write: async (record: unknown) => void done.push(record),
            remove: async (entity: unknown) => void done.push(entity),
          }
        : null,
      changed: async (changes: readonly string[]) => void done.push(changes.join()),
    },
    operation,
    accessRequest: { principal: { userId: 'amy', groups: [], tenants: [] }, params },
    partNames: parts === null ? null : new Set(parts),
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only these members are read
  return { context } as unknown as Pick<HandlerContext, 'context'>
}

/** Returns what was done for a response. */
async function doneFor(handled: Handled): Promise<readonly unknown[]> {
  const done: unknown[] = []
  const body = Buffer.from(JSON.stringify(handled.created ?? {}))
  await keepDefaultRecords(contextOf(handled, done), { status: 200, headers: {}, body })
  return done
}

const OF_DEPLOYER = {
  userId: 'amy',
  resource: 'DEPLOYMENT',
  resourceId: 'd1',
  permissions: ['READ', 'DELETE'],
}
const OF_OWNER = { userId: 'bob', resource: 'FILTER', resourceId: 'f1', permissions: ['ALL'] }

const CASES: readonly (readonly [claim: string, handled: Handled, done: readonly unknown[]])[] = [
  [
    'the deployer gets a record on a deployment',
    { operation: 'createDeployment', created: DEPLOYED },
    [OF_DEPLOYER, 'records'],
  ],
  [
    'a deployment without definitions is new if duplicates are not filtered',
    { operation: 'createDeployment', created: NOTHING_DEPLOYED, parts: ['deployment-name'] },
    [OF_DEPLOYER, 'records'],
  ],
  [
    'a deployment that may be the former one of another user gets no record',
    { operation: 'createDeployment', created: NOTHING_DEPLOYED, parts: ['enable-duplicate-filtering'] },
    ['records'],
  ],
  [
    'a deployment whose parts are not known may be a former one',
    { operation: 'createDeployment', created: NOTHING_DEPLOYED, parts: null },
    ['records'],
  ],
  [
    'a filtered deployment with definitions is new',
    { operation: 'createDeployment', created: DEPLOYED, parts: ['deploy-changed-only'] },
    [OF_DEPLOYER, 'records'],
  ],
  [
    'the owner of a filter gets a record, not its creator',
    { operation: 'createFilter', created: { id: 'f1', owner: 'bob' } },
    [OF_OWNER, 'records'],
  ],
  [
    'a filter without an owner gets no record',
    { operation: 'createFilter', created: { id: 'f1', owner: null } },
    ['records'],
  ],
  [
    'the user * gets no record, which would be for every user',
    { operation: 'createFilter', created: { id: 'f1', owner: '*' } },
    ['records'],
  ],
  [
    'a response without an id causes no record',
    { operation: 'createFilter', created: { owner: 'bob' } },
    ['records'],
  ],
  [
    'a response that is no object causes no record',
    { operation: 'createFilter', created: ['f1'] },
    ['records'],
  ],
  [
    'the records on a deleted filter are removed',
    { operation: 'deleteFilter', params: { id: 'f1' } },
    [{ resource: 'FILTER', resourceId: 'f1' }, 'records'],
  ],
  [
    'if the records are not those of the engine, none is written',
    { operation: 'createDeployment', created: DEPLOYED, hasRecords: false },
    [],
  ],
]

for (const [claim, handled, expected] of CASES)
  t.test(claim, async (t) => t.same(await doneFor(handled), expected))

const isChanged = (operation: string, hasRecords = true) =>
  changesDefaultRecords(contextOf({ operation, hasRecords }))

t.test('only operations that create or delete entities with such records wait for them', async (t) => {
  for (const id of ['createDeployment', 'createFilter', 'deleteFilter', 'deleteDeployment'])
    t.equal(isChanged(id), true, id)
  t.equal(isChanged('updateFilter'), false)
  t.equal(isChanged('createFilter', false), false)
})
