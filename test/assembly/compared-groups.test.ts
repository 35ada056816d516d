import t from 'tap'
import { compareOptionsOf } from '../../src/assembly/compared-groups.ts'
import { OPERATIONS } from '../../src/operations/all.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics/registry.ts'

function optionsOf(compare: { readonly rate: number; readonly operations: string[] | null } | null) {
  return compareOptionsOf(
    'default',
    {
      engineConfig: { compare },
      metrics: createMetrics({ version: '' }),
      log: createLogger({ level: 'silent' }),
    },
    { isOver: () => false },
  )
}

t.test('reads are compared, except for those whose response belongs to one node', (t) => {
  const isCompared = optionsOf({ rate: 1, operations: null })?.isCompared ?? (() => null)
  const excluded = OPERATIONS.filter(({ id, effect }) => effect === 'read' && isCompared(id) === false)
  t.same(excluded.map(({ id }) => id).toSorted(), [
    'getMetrics',
    'getRegisteredDeployments',
    'getRestAPIVersion',
    'getTelemetryData',
    'interval',
  ])
  for (const { id, effect } of OPERATIONS) if (effect === 'write') t.equal(isCompared(id), false, id)
  t.end()
})

t.test('only the listed operations are compared', (t) => {
  const isCompared = optionsOf({ rate: 1, operations: ['getTasks', 'getRestAPIVersion'] })?.isCompared
  t.same(
    ['getTasks', 'getTask', 'getRestAPIVersion'].map((id) => isCompared?.(id)),
    [true, false, false],
  )
  t.equal(optionsOf(null), undefined)
  t.end()
})
