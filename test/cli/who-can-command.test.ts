import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { startSandbox } from '../../sandbox/sandbox.ts'
import { refusingUrl, startNode } from '../support/fake-engine.ts'
import { writeSetup } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'

const sandbox = await startSandbox()
process.env['ENGINE_URL'] = sandbox.base
t.teardown(() => sandbox.close())

const CONFIG = fileURLToPath(new URL('../../config/gateway.yaml', import.meta.url))

const whoCan = (...argv: readonly string[]) => runInProcess(['who-can', '--config', CONFIG, ...argv])

const START = ['startProcessInstanceByKey', '--path', 'key=review']

t.test('who-can lists the permitted users and groups with the granting records', async (t) => {
  const { code, out, err } = await whoCan(...START)
  t.match({ code, err }, { code: 0, err: '' })
  t.same(out.split('\n'), [
    'POST /process-definition/key/review/start (startProcessInstanceByKey) at engine default',
    '',
    'may  group  camunda-admin  granted by GRANT to group camunda-admin on * (step 7)',
    'may  group  clerks         granted by GRANT to group clerks on review (step 5)',
    'may  user   demo           granted by GRANT to group camunda-admin on * (step 7)',
    'may  user   mary           granted by GRANT to group clerks on review (step 5)',
    '',
    '2 of 3 users and 2 of 3 groups may',
    '',
  ])
})

t.test('who-can --all also lists the refused users and groups with their missing permissions', async (t) => {
  const { code, out } = await whoCan(...START, '--all')
  t.equal(code, 0)
  t.match(out, /^may not {2}everybody {2}\* +missing READ on ProcessDefinition review, CREATE on /m)
  const missing = await whoCan('startProcessInstanceByKey', '--path', 'key=nosuch', '--all')
  t.match(missing.out, /^may not {2}user +mary .*404, not found by the look-up$/m)
})

t.test('who-can and explain give the same result for each user', async (t) => {
  for (const request of ['GET /task', 'DELETE /process-instance/x', 'GET /engine', 'POST /task/x/complete']) {
    const { out } = await whoCan(request, '--format', 'json')
    const { subjects } = JSON.parse(out)
    for (const user of ['demo', 'mary', 'peter']) {
      const { code } = await runInProcess(['explain', '--config', CONFIG, '--user', user, request])
      const found = subjects.find(
        (one: { kind: string; name: string }) => one.kind === 'user' && one.name === user,
      )
      t.equal(found.may, code === 0, `${user} ${request}`)
    }
  }
})

t.test('who-can counts a list without visible items as not permitted', async (t) => {
  const { out } = await whoCan('GET /task', '--all')
  t.match(out, /^may not {2}everybody {2}\* +no visible items$/m)
  t.match(out, /^may {6}user +mary +some items$/m)
  t.match(
    (await whoCan('getProcessEngineNames')).out,
    /^3 of 3 users and 3 of 3 groups may, and so may every other user$/m,
  )
})

t.test('who-can exits with 2 if the body is refused for every user', async (t) => {
  t.match(await whoCan('throwSignal'), {
    code: 2,
    out: '',
    err: /^POST \/signal is refused at stage \S+ for every caller: 400 /,
  })
  const body = join(t.testdir({ 'signal.json': '{"name":"stopAll"}' }), 'signal.json')
  t.match(await whoCan('throwSignal', '--body', body), { code: 0, out: /^may {2}user {3}demo /m })
})

t.test('who-can encodes a path value as one segment', async (t) => {
  const { out } = await whoCan('getTask', '--path', 'id=a b?x=ü', '--all', '--format', 'json')
  t.equal(JSON.parse(out).request, 'GET /task/a%20b%3Fx%3D%C3%BC')
  t.match(await whoCan('getTask', '--path', 'id=../task'), {
    code: 2,
    out: '',
    err: /^There is no operation GET \/task\/..%2Ftask: /,
  })
})

t.test('who-can reports invalid arguments', async (t) => {
  for (const [argv, line] of [
    [['startProcesInstanceByKey'], /did you mean startProcessInstanceByKey\?$/m],
    [['startProcessInstanceByKey'], /it needs --path key=VALUE$/m],
    [['startProcessInstanceByKey', '--path', 'kee=x'], /has no 'kee' in its path, but key$/m],
    [['startProcessInstanceByKey', '--path', 'key'], /--path takes NAME=VALUE, not 'key'$/m],
    [['GET /task', '--path', 'id=x'], /--path is for an operationId/m],
    [['GET /tusk'], /^There is no operation GET \/tusk$/m],
    [['GET /task', '--engine', 'nope'], /^There is no engine nope, but default, second$/m],
    [['throwSignal', '--body', 'nosuch.json'], /--body: the file does not exist/],
  ] as const)
    t.match(await whoCan(...argv), { code: 2, out: '', err: line }, argv.join(' '))
})

t.test('who-can exits with 1 if no user and no group is permitted', async (t) => {
  const { file, write } = await writeSetup(t)
  await write({ engines: { default: { nodes: [sandbox.base] } } })
  await writeFile(join(dirname(file), 'records.yaml'), 'authorizations: []')
  t.match(await runInProcess(['who-can', '-c', file, ...START]), {
    code: 1,
    out: /^0 of \d+ users and 0 of /m,
  })
})

const RECORDS = [
  { id: '1', type: 1, userId: 'anna', groupId: null, resourceType: 2, resourceId: '*', permissions: ['ALL'] },
  { id: '2', type: 1, userId: 'gone', groupId: null, resourceType: 2, resourceId: '*', permissions: ['ALL'] },
  {
    id: '3',
    type: 1,
    userId: null,
    groupId: 'clerks',
    resourceType: 8,
    resourceId: '*',
    permissions: ['CREATE'],
  },
  {
    id: '4',
    type: 1,
    userId: 'x\u001b[2J',
    groupId: null,
    resourceType: 2,
    resourceId: 'a',
    permissions: ['READ'],
  },
]

t.test('who-can checks the users that records name if the engine does not list its users', async (t) => {
  const node = await startNode(t, ({ url }, response) => {
    const path = decodeURIComponent(url.slice('/engine-rest'.length))
    const member = /^\/group\?member=(.*)$/.exec(path)?.[1]
    const user = /^\/user\?id=(.*)$/.exec(path)?.[1]
    const list = () => {
      if (path === '/authorization') return RECORDS
      if (user !== undefined) return user === 'gone' ? [] : [{ id: user }]
      return member === 'anna' ? [{ id: 'clerks' }] : []
    }
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(list()))
  })
  const { file, write } = await writeSetup(t)
  await write({
    engines: { default: { nodes: [`${node.url}/engine-rest`] } },
    identity: { source: 'engine' },
    authorization: { records: { source: 'engine' } },
  })
  const { code, out } = await runInProcess(['who-can', '-c', file, 'deleteGroup', '--path', 'id=x', '--all'])
  t.equal(code, 0)
  t.match(out, /^may +user +anna /m)
  t.notMatch(out, /gone/, 'who does not exist may do nothing')
  t.match(out, /^may not +group +clerks /m)
  t.match(
    out,
    /^The users of engine default come from the engine and cannot be listed\. Only users that records name were checked$/m,
  )
  t.notOk(out.includes('\u001b'), 'no name steers a terminal')
  t.same(
    node.seen.filter(({ method }) => method !== 'GET'),
    [],
  )
})

t.test('who-can exits with 2 if the engine does not respond', async (t) => {
  const { file, write } = await writeSetup(t)
  await write({
    engines: { default: { nodes: [`${await refusingUrl()}/engine-rest`] } },
    identity: { source: 'engine' },
    authorization: { records: { source: 'engine' } },
  })
  const { code, out, err } = await runInProcess(['who-can', '-c', file, ...START])
  t.match({ code, out }, { code: 2, out: '' })
  t.not(err, '')
})
