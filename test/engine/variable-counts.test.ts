import { test } from 'tap'
import { RESOURCES } from '../../src/operations/permissions.ts'
import { idOf, isJson, rowsOf } from '../differential/admin.ts'
import { javaSkip } from '../support/requirements.ts'
import { type PairCaller, startSecuredPair } from './secured-pair.ts'

/*
 * Compares the counts of running variables of callers who see all definitions, or all but one, and only some tenants, and lists of
 * process instances that are granted one by one.
 */

const TENANTS = [null, 'acme', 'globex', 'unlisted'] as const
const { PROCESS_DEFINITION, PROCESS_INSTANCE } = RESOURCES
const ALL = { resourceType: PROCESS_DEFINITION.id, permissions: ['READ_INSTANCE'] }
const ALL_BUT_B = [ALL, { ...ALL, resourceId: 'b', type: 2 }]

const CALLERS: readonly PairCaller[] = [
  { user: 'all', records: [ALL] },
  { user: 'allacme', tenants: ['acme'], records: [ALL] },
  { user: 'but', records: ALL_BUT_B },
  { user: 'butacme', tenants: ['acme'], records: ALL_BUT_B },
  { user: 'butboth', tenants: ['acme', 'globex'], records: ALL_BUT_B },
]

function bpmnOf(key: string): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="variables">
<process id="${key}" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="node"/><userTask id="node"/>
<sequenceFlow id="f2" sourceRef="node" targetRef="end"/><endEvent id="end"/></process></definitions>`
}

/** Queries that the engine sorts in an order of its database. */
const SORTED = ['asc', 'desc'].flatMap((order) =>
  ['', '&businessKeyLike=%25b%25', '&processDefinitionKey=b', '&maxResults=3&firstResult=2'].map(
    (others) => `/process-instance?sortBy=businessKey&sortOrder=${order}${others}`,
  ),
)

/** Returns a caller with a record for each instance, and so many for others that the ids do not fit into a query string. */
function singleOf(instances: readonly string[]): PairCaller {
  const others = Array.from({ length: 90 }, (_, at) => `an-instance-that-does-not-exist-${at}`)
  const records = [...instances, ...others].map((resourceId) => ({
    resourceType: PROCESS_INSTANCE.id,
    resourceId,
    permissions: ['READ'],
  }))
  return { user: 'single', tenants: ['acme'], records }
}

void test('counts of variables and sorted single instances are those of a secured engine with tenants', {
  skip: javaSkip,
}, async (t) => {
  const { admin, open } = await startSecuredPair(t, 'camunda-7.24.0')
  for (const id of ['acme', 'globex']) await admin.call('POST', '/tenant/create', { id, name: id })
  const instances: string[] = []
  for (const tenant of TENANTS)
    for (const [index, key] of ['a', 'b'].entries()) {
      await admin.upload('/deployment/create', [
        { name: 'deployment-name', value: key },
        ...(tenant === null ? [] : [{ name: 'tenant-id', value: tenant }]),
        { name: `${key}.bpmn`, value: bpmnOf(key), file: `${key}.bpmn` },
      ])
      const path = `/process-definition/key/${key}${tenant === null ? '' : `/tenant-id/${tenant}`}/start`
      const variables = { colour: { value: 'red', type: 'String' }, pages: { value: index, type: 'Long' } }
      for (let count = 0; count <= index + TENANTS.indexOf(tenant); count += 1)
        instances.push(
          idOf(
            await admin.call('POST', path, {
              variables,
              businessKey: `${['b', 'A', 'a', 'B'][count % 4]}-${index}`,
            }),
          ),
        )
    }
  // No definition has the last tenant.
  for (const tenantId of [...TENANTS, 'floating']) {
    const id = `alone-${tenantId}`
    await admin.call('POST', '/task/create', { id, name: id, tenantId })
    await admin.call('PUT', `/task/${id}/variables/colour`, { value: 'red', type: 'String' })
  }
  const { engine, gateway } = await open([...CALLERS, singleOf(instances.filter((_, at) => at % 3 > 0))])
  const counts = new Set<unknown>()
  for (const { user } of CALLERS)
    for (const body of [
      {},
      { variableName: 'colour' },
      { variableValues: [{ name: 'pages', operator: 'eq', value: 0 }] },
    ]) {
      const ask = { method: 'POST', path: '/variable-instance/count', body } as const
      const [expected, actual] = await Promise.all([engine(user, ask), gateway(user, ask)])
      t.equal(expected.status, 200)
      t.same(actual, expected, `${user} ${JSON.stringify(body)}`)
      counts.add(isJson(expected.body) ? expected.body['count'] : null)
    }
  t.ok(counts.size > 4, [...counts].join(' '))
  for (const path of SORTED) {
    const ask = { method: 'GET', path } as const
    const [expected, actual] = await Promise.all([engine('single', ask), gateway('single', ask)])
    t.equal(expected.status, 200)
    t.same(keysIn(actual.body), keysIn(expected.body), path)
    t.ok(keysIn(expected.body).length > 1, path)
  }
})

/** Returns the business keys in their order. The order of instances with the same key is not determined. */
function keysIn(body: unknown): readonly unknown[] {
  return rowsOf(body).map((row) => row['businessKey'])
}
