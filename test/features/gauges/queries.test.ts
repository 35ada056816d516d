import t from 'tap'
import { createDateFormat } from '../../../src/request/date-format.ts'
import { GAUGE_QUERIES, type GaugeSample } from '../../../src/features/gauges/queries.ts'

const NOON_MS = Date.UTC(2026, 0, 31, 12)
const wallNow = () => NOON_MS
const BOUNDS = { topics: 2, definitions: 2 }

/** Returns the samples of one query, and the paths that it requested. */
async function read(name: string, answers: Readonly<Record<string, unknown>>, bounds = BOUNDS) {
  const asked: string[] = []
  const query = GAUGE_QUERIES.find((one) => one.name === name)
  const samples = await query?.read(
    async (path) => {
      asked.push(path)
      return path in answers ? answers[path] : { count: 0 }
    },
    { ...bounds, dateFormat: createDateFormat(), wallNow },
  )
  return { samples: samples?.map(textOf), asked }
}

function textOf({ gauge, label, value }: GaugeSample): string {
  return `${gauge}${label === '' ? '' : `{${label}}`} ${value}`
}

t.test('incidents of other types are the total minus the known types', async (t) => {
  const { samples } = await read('incidents', {
    '/incident/count?incidentType=failedJob': { count: 3 },
    '/incident/count?incidentType=failedExternalTask': { count: 1 },
    '/incident/count': { count: 6 },
  })
  t.same(samples, [
    'camunda_incidents_open{failedJob} 3',
    'camunda_incidents_open{failedExternalTask} 1',
    'camunda_incidents_open{_other} 2',
  ])
})

t.test('the count of other incidents is at least 0 if counts change between two queries', async (t) => {
  const { samples } = await read('incidents', {
    '/incident/count?incidentType=failedJob': { count: 3 },
    '/incident/count': { count: 2 },
  })
  t.same(samples, ['camunda_incidents_open{failedJob} 3', 'camunda_incidents_open{failedExternalTask} 0'])
})

t.test('jobs that are executable or out of retries are counted', async (t) => {
  const answers = {
    '/job/count?noRetriesLeft=true': { count: 4 },
    '/job/count?executable=true': { count: 5 },
  }
  t.same((await read('jobs-out-of-retries', answers)).samples, ['camunda_jobs_out_of_retries 4'])
  t.same((await read('jobs-executable', answers)).samples, ['camunda_jobs_executable 5'])
})

t.test('open and unassigned user tasks are counted with one request each', async (t) => {
  const answers = { '/task/count': { count: 9 }, '/task/count?unassigned=true': { count: 4 } }
  const open = await read('user-tasks-open', answers)
  t.same(open, { samples: ['camunda_user_tasks_open 9'], asked: ['/task/count'] })
  const unassigned = await read('user-tasks-unassigned', answers)
  t.same(unassigned.samples, ['camunda_user_tasks_unassigned 4'])
  t.equal(unassigned.asked.length, 1)
})

t.test(
  'overdue user tasks are those that were due before now, in the date format of the engine',
  async (t) => {
    const overdue = GAUGE_QUERIES.find(({ name }) => name === 'user-tasks-overdue')
    const asked: string[] = []
    const ask = async (path: string) => {
      asked.push(path)
      return { count: 2 }
    }
    const samples = await overdue?.read(ask, { ...BOUNDS, dateFormat: createDateFormat(), wallNow })
    t.same(samples?.map(textOf), ['camunda_user_tasks_overdue 2'])
    t.equal(asked.length, 1)
    const [path = ''] = asked
    const [, date = ''] = /^\/task\/count\?dueBefore=(.*)$/.exec(path) ?? []
    t.equal(createDateFormat().toMs(decodeURIComponent(date)), NOON_MS)
    const unwritable = { ...BOUNDS, dateFormat: createDateFormat('dd MMM yyyy'), wallNow }
    t.same(await overdue?.read(ask, unwritable), [], 'a format without a zone cannot be written')
    t.equal(asked.length, 1)
  },
)

const WAITING = 'notLocked=true&withRetriesLeft=true&active=true'
const oldestPath = (topic: string) =>
  `/external-task?topicName=${topic}&${WAITING}&sortBy=createTime&sortOrder=asc&maxResults=1`

t.test('waiting external tasks are counted by topic, with the time of the oldest', async (t) => {
  const { samples, asked } = await read('external-tasks', {
    '/external-task/topic-names': ['b & c', 'a'],
    [`/external-task/count?topicName=b%20%26%20c&${WAITING}`]: { count: 7 },
    [oldestPath('b%20%26%20c')]: [{ createTime: '2026-01-31T13:00:00.500+0100' }],
  })
  t.same(samples, [
    'camunda_external_tasks_waiting{a} 0',
    'camunda_external_tasks_waiting{b & c} 7',
    `camunda_external_tasks_oldest_timestamp_seconds{b & c} ${Date.UTC(2026, 0, 31, 12) / 1000 + 0.5}`,
  ])
  t.equal(asked.length, 4, 'where none waits none is the oldest')
})

t.test('the age of the oldest task comes from the history if the engine has no creation time', async (t) => {
  const answers = {
    '/external-task/topic-names': ['a'],
    [`/external-task/count?topicName=a&${WAITING}`]: { count: 1 },
    [oldestPath('a')]: [{ id: 'x/1' }],
  }
  const log = '/history/external-task-log?externalTaskId=x%2F1&creationLog=true'
  const told = await read('external-tasks', {
    ...answers,
    [log]: [{ timestamp: '2026-01-31T12:00:00.000+0000' }],
  })
  t.equal(
    told.samples?.[1],
    `camunda_external_tasks_oldest_timestamp_seconds{a} ${Date.UTC(2026, 0, 31, 12) / 1000}`,
  )
  const untold = await read('external-tasks', { ...answers, [log]: [] })
  t.same(untold.samples, ['camunda_external_tasks_waiting{a} 1'])
})

t.test('topics beyond the limit share one label', async (t) => {
  const topics = { '/external-task/topic-names': ['d', 'c', 'b', 'a'] }
  const { samples } = await read('external-tasks', {
    ...topics,
    [`/external-task/count?topicName=a&${WAITING}`]: { count: 1 },
    [`/external-task/count?${WAITING}`]: { count: 9 },
    [oldestPath('a')]: null,
  })
  t.same(samples, [
    'camunda_external_tasks_waiting{a} 1',
    'camunda_external_tasks_waiting{b} 0',
    'camunda_external_tasks_waiting{_other} 8',
  ])
  const none = await read('external-tasks', topics, { ...BOUNDS, topics: 0 })
  t.same(none.samples, [])
  t.equal(none.asked.length, 2)
})

t.test('a topic with a very long name is not used as a label', async (t) => {
  const { samples } = await read('external-tasks', {
    '/external-task/topic-names': ['x'.repeat(129)],
    [`/external-task/count?${WAITING}`]: { count: 2 },
  })
  t.same(samples, ['camunda_external_tasks_waiting{_other} 2'])
})

const statistic = (key: string, instances: number) => ({ definition: { key }, instances })

t.test('running instances are summed over all versions and tenants of a key', async (t) => {
  const { samples } = await read('process-instances', {
    '/process-definition/statistics': [statistic('a', 2), statistic('b', 0), statistic('a', 3)],
  })
  t.same(samples, ['camunda_process_instances_running{a} 5', 'camunda_process_instances_running{b} 0'])
})

t.test('keys beyond the limit share one label, and the largest have their own', async (t) => {
  const { samples } = await read('process-instances', {
    '/process-definition/statistics': [
      statistic('a', 2),
      statistic('b', 4),
      statistic('c', 1),
      statistic('d', 3),
      statistic('e'.repeat(200), 100),
    ],
  })
  t.same(samples, [
    'camunda_process_instances_running{b} 4',
    'camunda_process_instances_running{d} 3',
    'camunda_process_instances_running{_other} 103',
  ])
})

t.test('the time of the last deployment is shown', async (t) => {
  const path = '/deployment?sortBy=deploymentTime&sortOrder=desc&maxResults=1'
  const { samples } = await read('deployments', {
    [path]: [{ deploymentTime: '2026-01-31T12:00:00.000+0000' }],
  })
  t.same(samples, [`camunda_last_deployment_timestamp_seconds ${Date.UTC(2026, 0, 31, 12) / 1000}`])
  t.same((await read('deployments', { [path]: [] })).samples, [], 'there is none')
})

t.test('a response of an unexpected form is a failure', async (t) => {
  for (const [name, answers] of [
    ['incidents', { '/incident/count': { total: 1 } }],
    ['jobs-executable', { '/job/count?executable=true': null }],
    ['external-tasks', { '/external-task/topic-names': { count: 1 } }],
    ['process-instances', { '/process-definition/statistics': [{ instances: 1 }] }],
    ['deployments', { '/deployment?sortBy=deploymentTime&sortOrder=desc&maxResults=1': null }],
  ] as const)
    await t.rejects(read(name, answers), { code: 'GW_UPSTREAM_INVALID' }, name)
})
