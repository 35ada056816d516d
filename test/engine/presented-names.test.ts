import t from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { KNOWN_DIFFERENCES, mapValues } from '../../src/proxy/compare/known-differences.ts'
import { CAMUNDA_PLACES } from '../../src/operations/published/family-members.ts'
import { bodyText } from '../../src/request/body.ts'
import { until } from '../support/cache-harness.ts'
import { authorizationOf } from '../support/open-gateway.ts'
import { javaSkip } from '../support/requirements.ts'
import { connectTools } from '../support/tool-client.ts'
import { exchange } from './exchange.ts'
import { reportOf, startTwoFamilies } from './two-families.ts'

/** The demo's records permit `mary` to read only the tasks of the process `review`. */
const MODEL = (key: string): string => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:camunda="http://camunda.org/schema/1.0/bpmn"
    targetNamespace="presented">
  <process id="${key}" isExecutable="true" camunda:historyTimeToLive="P1D">
    <startEvent id="start" camunda:formRef="startForm" camunda:formRefBinding="latest"/>
    <sequenceFlow id="a" sourceRef="start" targetRef="task"/>
    <userTask id="task" name="operatonFormRef" camunda:formRef="taskForm" camunda:formRefBinding="version"
      camunda:formRefVersion="1"/>
  </process>
</definitions>`

const HAL = 'application/hal+json'

const HAL_LINKS = KNOWN_DIFFERENCES.find(({ kind }) => kind === 'hal-links')
const SORTED = { sorting: [{ sortBy: 'id', sortOrder: 'asc' }] }
const SORTED_TASKS = '/task?sortBy=id&sortOrder=asc'

interface Read {
  readonly operation: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly accept?: string
}

void t.test(
  'a client of Operaton sees the names and values of Camunda 7.24.0 in each response with a form reference',
  { skip: javaSkip, timeout: 600_000 },
  async (t) => {
    const { old, next, gateway } = await startTwoFamilies(t, {
      engine: "shift: { to: new, reads: '100%' }, compare: { rate: '100%' }, present: camunda",
      settings:
        'mcp: {}\nvalidation: { allow: [deserialization] }\nlimits: { pressure: { eventLoopDelay: null } }',
    })
    const call = async (path: string, body: unknown) =>
      (await exchange(old.base, { method: 'POST', path, body })).body
    const deploy = async (key: string, tenant?: string) => {
      const form = new FormData()
      if (tenant !== undefined) form.append('tenant-id', tenant)
      form.append(`${key}.bpmn`, new Blob([MODEL(key)]), `${key}.bpmn`)
      await call('/deployment/create', form)
    }
    await deploy('review', 'acme')
    for (const key of ['review', 'other']) {
      await deploy(key)
      const variables = { operatonFormRef: { value: 'operatonFormRef', type: 'String' } }
      await call(`/process-definition/key/${key}/start`, { variables })
    }
    const { body: tasks } = await exchange(old.base, {
      method: 'GET',
      path: '/task?processDefinitionKey=review',
    })
    const task = bodyText(tasks, '0.id') ?? ''
    const definition = bodyText(tasks, '0.processDefinitionId') ?? ''
    const filterOf = async (query: unknown) =>
      bodyText(await call('/filter/create', { resourceType: 'Task', name: 'f', query }), 'id')
    const [all, one] = [await filterOf({}), await filterOf({ processDefinitionKey: 'review' })]

    const reads: readonly Read[] = [
      { operation: 'getTasks', method: 'GET', path: SORTED_TASKS },
      { operation: 'getTasks', method: 'GET', path: `${SORTED_TASKS}&withTaskVariablesInReturn=true` },
      { operation: 'getTasks', method: 'GET', path: SORTED_TASKS, accept: HAL },
      { operation: 'queryTasks', method: 'POST', path: '/task' },
      { operation: 'getTask', method: 'GET', path: `/task/${task}` },
      { operation: 'getTask', method: 'GET', path: `/task/${task}`, accept: HAL },
      { operation: 'getForm', method: 'GET', path: `/task/${task}/form` },
      ...[
        ['getStartForm', definition],
        ['getStartFormByKey', 'key/review'],
        ['getStartFormByKeyAndTenantId', 'key/review/tenant-id/acme'],
      ].map(([operation = '', name]) => {
        return { operation, method: 'GET', path: `/process-definition/${name}/startForm` } as const
      }),
      ...['application/json', HAL].flatMap((accept) => [
        { operation: 'executeFilterList', method: 'GET', path: `/filter/${all}/list`, accept } as const,
        { operation: 'postExecuteFilterList', method: 'POST', path: `/filter/${all}/list`, accept } as const,
        {
          operation: 'executeFilterSingleResult',
          method: 'GET',
          path: `/filter/${one}/singleResult`,
          accept,
        } as const,
        {
          operation: 'postExecuteFilterSingleResult',
          method: 'POST',
          path: `/filter/${one}/singleResult`,
          accept,
        } as const,
      ]),
    ]
    const sent = new Set([...reads.map(({ operation }) => operation), 'getTelemetryData'])
    t.same(sent, new Set(CAMUNDA_PLACES.keys()), 'each operation of the table is sent')
    // The gateway sends no read to a group before it has read the schema of the group.
    await until(async () =>
      / :\{"key"/.test(
        (await send(gateway.base, { method: 'GET', path: `/task/${task}` }, gateway.headers)).text,
      ),
    )
    for (const read of reads) {
      const camunda = await send(old.base, read)
      const operaton = await send(next.base, read)
      const presented = await send(gateway.base, read, gateway.headers)
      const title = `${read.method} ${read.path} ${read.accept ?? ''}`
      t.equal(presented.status, 200, title)
      t.ok(countOf('operatonFormRef', operaton.body) > 0, `${title}: the engine sends its own name`)
      t.equal(countOf('operatonFormRef', presented.body), 0, `${title}: the client does not see it`)
      t.same(withoutCopies(presented.body), withoutCopies(camunda.body), `${title}: equal to Camunda`)
      t.equal(presented.text.length, operaton.text.length, `${title}: the length is that of the engine`)
    }

    const variables = await send(
      gateway.base,
      { method: 'GET', path: `/task/${task}/variables` },
      gateway.headers,
    )
    t.match(variables.body, { operatonFormRef: { value: 'operatonFormRef' } }, 'a variable keeps its name')

    const mary = { authorization: authorizationOf('mary') }
    for (const read of [
      { method: 'GET', path: SORTED_TASKS },
      { method: 'POST', path: '/task' },
    ] as const) {
      const { body } = await send(gateway.base, read, mary)
      const camunda = await send(old.base, { method: 'GET', path: '/task?processDefinitionKey=review' })
      t.same(body, camunda.body, `a restricted caller: ${read.method}`)
    }

    const { call: callTool } = await connectTools(t, gateway.address, 'demo')
    const formRef = { key: 'taskForm', binding: 'version', version: 1 }
    t.match(await callTool('getTask', { id: task }), { structured: { camundaFormRef: formRef } })
    t.match(await callTool('getTasks', { processDefinitionKey: 'review' }), {
      structured: { items: [{ camundaFormRef: formRef }] },
    })

    const telemetry = await send(gateway.base, { method: 'GET', path: '/telemetry/data' }, gateway.headers)
    t.match(telemetry.body, { product: { name: /Operaton/, internals: { 'camunda-integration': [] } } })
    t.notMatch(telemetry.text, /operaton-integration/)

    await until(async () => (await reportOf(gateway)).waiting === 0)
    const { results, differences } = await reportOf(gateway)
    t.ok((results['known: form-reference'] ?? 0) > 0, 'the comparison sees both names')
    t.same(differences, [])
  },
)

interface SentResponse {
  readonly status: number
  readonly text: string
  readonly body: unknown
}

async function send(
  base: string,
  { method, path, accept = 'application/json' }: Omit<Read, 'operation'>,
  headers: Readonly<Record<string, string>> = {},
): Promise<SentResponse> {
  const json = { 'content-type': 'application/json' }
  const response = await fetch(base + path, {
    method,
    headers: { ...headers, accept, ...(method === 'POST' && json) },
    ...(method === 'POST' && { body: path === '/task' ? JSON.stringify(SORTED) : '{}' }),
  })
  const text = await response.text()
  const body: unknown = JSON.parse(text)
  return { status: response.status, text, body }
}

/** Removes the copies of `_links` and `_embedded` that HAL responses of Operaton have. */
function withoutCopies(body: unknown): unknown {
  return mapValues(body, HAL_LINKS?.unify ?? ((value) => value))
}

/** Returns how many members with this name a value has. Variables are not counted. */
function countOf(name: string, value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + countOf(name, item), 0)
  if (!isRecord(value)) return 0
  return Object.entries(value).reduce(
    (sum, [key, member]) => sum + (key === 'variables' ? 0 : Number(key === name) + countOf(name, member)),
    0,
  )
}
