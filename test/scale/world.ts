import { type Admin, idOf, rowsOf, textOf } from '../differential/admin.ts'
import { inParallel } from '../differential/in-parallel.ts'
import { careCase } from '../differential/models.ts'

/** The keys and instances that the run has created. */
export interface ScaleWorld {
  readonly keys: readonly string[]
  /** The first 400 instances, of all definitions. Some of them no longer run. */
  readonly instances: readonly string[]
}

const KEYS = Array.from({ length: 20 }, (_, index) => `p${String(index).padStart(2, '0')}`)
/** Every third definition is deployed for all of these. Null means no tenant. The other definitions have no tenant. */
const TENANTS = [null, 'acme', 'globex'] as const
const IN_FLIGHT = 8

const NAMESPACES =
  'xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn" targetNamespace="http://engine-gateway/scale"'

const NODES = [
  '<userTask id="node" name="Do it"/>',
  '<serviceTask id="node" camunda:type="external" camunda:topic="work"/>',
  '<intermediateCatchEvent id="node"><timerEventDefinition><timeDuration>P20D</timeDuration></timerEventDefinition></intermediateCatchEvent>',
  '<userTask id="node" name="Do it later" camunda:asyncBefore="true"/>',
]

function bpmnOf(key: string, index: number): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<definitions ${NAMESPACES}><process id="${key}" isExecutable="true" camunda:historyTimeToLive="P30D">
<startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="node"/>${NODES[index % NODES.length]}
<sequenceFlow id="f2" sourceRef="node" targetRef="end"/><endEvent id="end"/></process></definitions>`
}

/** Creates definitions, running and ended instances, incidents, tasks of cases, standalone tasks, and the history of a deleted definition. */
export async function buildScaleWorld(admin: Admin, count: number): Promise<ScaleWorld> {
  for (const tenant of TENANTS)
    if (tenant !== null) await admin.call('POST', '/tenant/create', { id: tenant, name: tenant })
  for (const [index, key] of [...KEYS, 'gone'].entries())
    for (const tenant of index % 3 === 0 ? TENANTS : [null]) await deploy(admin, { key, index, tenant })
  const definitions = rowsOf(await admin.call('GET', '/process-definition')).map((row) => textOf(row, 'id'))
  const instances: string[] = []
  await inParallel(
    Array.from({ length: count }, (_, index) => index),
    IN_FLIGHT,
    async (index) => {
      const definition = definitions[index % definitions.length] ?? ''
      const variables = { pages: { value: index, type: 'Long' }, colour: { value: 'red', type: 'String' } }
      const started = await admin.call('POST', `/process-definition/${definition}/start`, {
        businessKey: `order-${String(index).padStart(6, '0')}`,
        variables,
      })
      if (index < 400) instances.push(idOf(started))
    },
  )
  await endSome(admin, count)
  for (let index = 0; index < 5; index += 1)
    await admin.call('POST', '/task/create', {
      name: `alone-${index}`,
      ...(index % 2 === 1 && { tenantId: 'acme' }),
    })
  await openCases(admin)
  await failSome(admin)
  await deleteGone(admin)
  return { keys: KEYS, instances }
}

async function deploy(
  { upload }: Admin,
  { key, index, tenant }: { readonly key: string; readonly index: number; readonly tenant: string | null },
): Promise<void> {
  await upload('/deployment/create', [
    { name: 'deployment-name', value: key },
    ...(tenant === null ? [] : [{ name: 'tenant-id', value: tenant }]),
    { name: `${key}.bpmn`, value: bpmnOf(key, index), file: `${key}.bpmn` },
  ])
}

/** Creates cases with one task and one variable each. No process definition determines the access to them. */
async function openCases({ call, upload }: Admin): Promise<void> {
  await upload('/deployment/create', [
    { name: 'deployment-name', value: 'care' },
    { name: 'care.cmmn', value: careCase, file: 'care.cmmn' },
  ])
  for (let index = 0; index < 100; index += 1)
    await call('POST', '/case-definition/key/care/create', {
      variables: { pages: { value: index, type: 'Long' } },
    })
}

async function endSome({ call }: Admin, count: number): Promise<void> {
  const tasks = rowsOf(await call('GET', `/task?maxResults=${Math.ceil(count / 10)}`))
  await inParallel(tasks, IN_FLIGHT, async (task) => {
    await call('POST', `/task/${textOf(task, 'id')}/complete`, {})
  })
}

async function failSome({ call }: Admin): Promise<void> {
  const tasks = rowsOf(await call('GET', '/external-task?maxResults=50'))
  for (const task of tasks) {
    const id = textOf(task, 'id')
    await call('POST', `/external-task/${id}/lock`, { workerId: 'worker', lockDuration: 600_000 })
    await call('POST', `/external-task/${id}/failure`, {
      workerId: 'worker',
      errorMessage: 'failed',
      retries: 0,
    })
  }
}

/** Deletes a definition and its running instances. Their history remains. */
async function deleteGone({ call }: Admin): Promise<void> {
  for (const definition of rowsOf(await call('GET', '/process-definition?key=gone'))) {
    const id = textOf(definition, 'id')
    const running = rowsOf(await call('GET', `/process-instance?processDefinitionId=${id}`))
    for (const instance of running) await call('DELETE', `/process-instance/${textOf(instance, 'id')}`)
    await call('DELETE', `/process-definition/${id}?cascade=false`)
  }
}
