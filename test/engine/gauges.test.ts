import t from 'tap'
import { createDateFormat } from '../../src/request/date-format.ts'
import { GAUGE_QUERIES, type ReadJson, type GaugeSample } from '../../src/features/gauges/queries.ts'
import { isRecord, stringIn } from '../../src/request/value.ts'
import { javaSkip } from '../support/requirements.ts'
import { startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { seed } from './seed.ts'

const BOUNDS = { topics: 5, definitions: 50 }

for (const family of ['camunda', 'operaton'] as const)
  t.test(`the gauges of an engine: ${family}`, { skip: javaSkip, timeout: 300_000 }, async (t) => {
    const engine = await startEngine({ family })
    t.teardown(() => engine.stop())
    const post = async (path: string, body: unknown) => {
      const { status } = await exchange(engine.base, { method: 'POST', path, body })
      t.ok(status < 300, path)
    }
    const read: ReadJson = async (path) => {
      const { status, body } = await exchange(engine.base, { method: 'GET', path })
      t.equal(status, 200, path)
      return body
    }
    const rowsOf = async (path: string): Promise<readonly unknown[]> => {
      const rows = await read(path)
      return Array.isArray(rows) ? rows : []
    }
    const samplesOf = async (): Promise<readonly GaugeSample[]> => {
      const samples: GaugeSample[] = []
      for (const query of GAUGE_QUERIES)
        samples.push(
          ...(await query.read(read, { ...BOUNDS, dateFormat: createDateFormat(), wallNow: Date.now })),
        )
      return samples
    }

    const before = valueOf(await samplesOf(), 'camunda_external_tasks_waiting', 'work') ?? 0
    const { externalTaskId, receiveExecutionId } = await seed(engine.base)
    await seed(engine.base)
    const between = await samplesOf()
    t.equal(valueOf(between, 'camunda_external_tasks_waiting', 'work'), before + 2)

    const worker = { workerId: 'w', maxTasks: 10, topics: [{ topicName: 'work', lockDuration: 600_000 }] }
    await post('/external-task/fetchAndLock', worker)
    await post(`/external-task/${externalTaskId}/failure`, { workerId: 'w', retries: 0 })
    const own = { incidentType: 'own', configuration: 'x' }
    await post(`/execution/${receiveExecutionId}/create-incident`, own)
    const samples = await samplesOf()

    t.equal(valueOf(samples, 'camunda_external_tasks_waiting', 'work'), 0, 'locked, or without retries')
    t.equal(valueOf(samples, 'camunda_external_tasks_oldest_timestamp_seconds', 'work'), undefined)
    t.equal(valueOf(samples, 'camunda_incidents_open', 'failedExternalTask'), 1)
    t.equal(valueOf(samples, 'camunda_incidents_open', 'failedJob'), 0)
    t.equal(valueOf(samples, 'camunda_incidents_open', '_other'), 1, 'an incident of a type of its own')

    const instances = await rowsOf('/process-instance')
    const shown = samples.filter(({ gauge }) => gauge === 'camunda_process_instances_running')
    t.equal(
      shown.reduce((sum, { value }) => sum + value, 0),
      instances.length,
    )
    for (const { label, value } of shown)
      t.same(await read(`/process-instance/count?processDefinitionKey=${label}`), { count: value }, label)

    const dates = (await rowsOf('/deployment')).map((one) =>
      Date.parse(stringIn(one, 'deploymentTime') ?? ''),
    )
    t.equal(valueOf(samples, 'camunda_last_deployment_timestamp_seconds'), Math.max(...dates) / 1000)

    const created = (await rowsOf('/history/external-task-log?creationLog=true')).map((one) =>
      Date.parse(stringIn(one, 'timestamp') ?? ''),
    )
    t.equal(
      valueOf(between, 'camunda_external_tasks_oldest_timestamp_seconds', 'work'),
      Math.min(...created) / 1000,
      'when the oldest was created',
    )

    const jobs = (await rowsOf('/job')).filter(isRecord)
    t.equal(
      valueOf(samples, 'camunda_jobs_out_of_retries'),
      jobs.filter(({ retries }) => retries === 0).length,
    )
    const tasks = (await rowsOf('/task')).filter(isRecord)
    t.ok(tasks.length > 1)
    t.equal(valueOf(samples, 'camunda_user_tasks_open'), tasks.length)
    const unassigned = tasks.filter(({ assignee }) => assignee === null)
    t.equal(valueOf(samples, 'camunda_user_tasks_unassigned'), unassigned.length)
    t.equal(valueOf(samples, 'camunda_user_tasks_overdue'), 0)
    const [id = ''] = tasks.map((task) => stringIn(task, 'id') ?? '')
    const due = { ...tasks[0], due: '2020-01-31T12:00:00.000+0000' }
    const changed = await exchange(engine.base, { method: 'PUT', path: `/task/${id}`, body: due })
    t.equal(changed.status, 204)
    t.equal(valueOf(await samplesOf(), 'camunda_user_tasks_overdue'), 1)

    t.equal(valueOf(samples, 'camunda_jobs_executable'), (await rowsOf('/job?executable=true')).length)
  })

function valueOf(samples: readonly GaugeSample[], gauge: GaugeSample['gauge'], label = '') {
  return samples.find((one) => one.gauge === gauge && one.label === label)?.value
}
