import t, { type Test } from 'tap'
import { isRecord } from '../../src/request/value.ts'
import { javaSkip } from '../support/requirements.ts'
import { writeSetup } from '../support/reloadable.ts'
import { runInProcess } from '../support/run-command.ts'
import { exchange } from './exchange.ts'
import { basicOf } from '../differential/http.ts'
import type { GatewayProcess } from './gateway-process.ts'
import { startTwoFamilies } from './two-families.ts'

const OPERATON_NAMESPACE = 'http://operaton.org/schema/1.0/bpmn'

const modelOf = (id: string, namespace: string, content: string) => `<?xml version="1.0" encoding="UTF-8"?>
<definitions xmlns="http://www.omg.org/spec/BPMN/20100524/MODEL" xmlns:x="${namespace}" targetNamespace="t">
  <process id="${id}" isExecutable="true" x:historyTimeToLive="P5D">
    <startEvent id="start"/><sequenceFlow id="f1" sourceRef="start" targetRef="work"/>
    ${content}<sequenceFlow id="f2" sourceRef="work" targetRef="end"/><endEvent id="end"/>
  </process>
</definitions>`

const SCRIPT = modelOf(
  'script',
  'http://camunda.org/schema/1.0/bpmn',
  '<scriptTask id="work" scriptFormat="javascript"><script>org.camunda.spin.Spin.JSON("{}")</script></scriptTask>',
)
const OPERATON_MODEL = modelOf('forked', OPERATON_NAMESPACE, '<serviceTask id="work" x:expression="${1}"/>')
const WAITING = modelOf('waiting', 'http://camunda.org/schema/1.0/bpmn', '<userTask id="work"/>')

void t.test(
  'the check before a move finds an old schema, a namespace, a class name and a missing admin group',
  { skip: javaSkip, timeout: 600_000 },
  async (t) => {
    const { old, next, gateway } = await startTwoFamilies(t, {
      engine: 'shift: { to: new, reads: 100%, writes: 100% }',
      settings: '',
      tablesOf: 'camunda',
    })
    await deploy(old.base, 'script.bpmn', SCRIPT)
    await deploy(old.base, 'waiting.bpmn', WAITING)
    await deploy(next.base, 'forked.bpmn', OPERATON_MODEL)
    t.equal(await statusOfStart(old.base, 'forked'), 500, 'Camunda cannot run the model of the fork')

    const { file, write } = await writeSetup(t)
    await write({
      engines: {
        default: {
          nodes: [
            { url: old.base, group: 'old' },
            { url: next.base, group: 'new' },
          ],
          shift: { to: 'new' },
        },
      },
      identity: { source: 'engine' },
      authorization: {
        adminGroups: ['camunda-admin', 'ghosts'],
        records: { source: 'file', file: 'records.yaml' },
      },
    })
    const { code, out } = await runInProcess(['move', 'check', '--config', file, '--format', 'json'])
    t.equal(code, 1)
    const report: unknown = JSON.parse(out)
    const findings: readonly unknown[] =
      isRecord(report) && Array.isArray(report['findings']) ? report['findings'] : []
    const linesOf = (isWanted: (severity: unknown) => boolean) =>
      findings.flatMap((finding) =>
        isRecord(finding) && isWanted(finding['severity'])
          ? [`${String(finding['group'])} ${String(finding['subject'])}: ${String(finding['found'])}`]
          : [],
      )
    const obstacles = linesOf((severity) => severity !== 'info')
    t.match(obstacles.toSorted(), [
      /^new admin-group: authorization\.adminGroups does not name operaton-admin/,
      /^new admin-group: members of camunda-admin who are not members of operaton-admin: demo \(1 in total\)$/,
      /^new schema: Operaton 1\.0\.3 needs the schema 7\.23, and the database has 7\.22\.0/,
      /^null class-name: script\.bpmn, element work names org\.camunda\.spin\.Spin\.JSON/,
      /^null namespace: forked\.bpmn has the namespace http:\/\/operaton\.org\/schema\/1\.0\/bpmn/,
      /^old admin-group: the group ghosts .* does not exist at the engine/,
      /^old schema: Camunda 7\.24\.0 needs the schema 7\.23, and the database has 7\.22\.0/,
    ])
    t.equal(obstacles.length, 7)
    t.match(
      linesOf((severity) => severity === 'info'),
      [/^old family: the nodes run Camunda 7\.24\.0$/, /^new family: the nodes run Operaton 1\.0\.3$/],
    )
    t.equal(
      await statusOfStart(next.base, 'waiting'),
      500,
      'Operaton cannot start instances with the old schema',
    )

    // The group is refused, although the configuration gives it all requests.
    const task = { method: 'POST', path: '/process-definition/key/waiting/start', body: {} } as const
    t.equal(
      (await exchange(gateway.base, task, gateway.headers)).status,
      500,
      'the old engine needs the schema too',
    )
    const shift = { method: 'POST', path: '/shift', body: { reads: '1%' } } as const
    const shifted = await exchange(gateway.adminAddress, { ...shift, headers: { 'x-requested-by': 'test' } })
    t.match(shifted, { status: 400, body: { error: /Operaton 1\.0\.3 needs the schema 7\.23/ } })
    const metrics = await (await fetch(`${gateway.adminAddress}/metrics`)).text()
    t.match(metrics, /^gateway_group_refused\{engine="default",group="new"\} 1$/m)
    t.notMatch(
      metrics,
      new RegExp(`^gateway_upstream_attempts_total.*node="${next.base}"`, 'm'),
      'no request was sent',
    )

    const form = formOf('forked.bpmn', OPERATON_MODEL)
    const forked = await exchange(
      gateway.base,
      { method: 'POST', path: '/deployment/create', body: form },
      gateway.headers,
    )
    t.match(forked, {
      status: 400,
      body: { message: /the namespace http:\/\/operaton\.org\/schema\/1\.0\/bpmn/ },
    })
    await checkRedeployments(t, old.base, gateway)
  },
)

const ACCESS = `
identity: { source: engine }
authorization: { mode: engine, records: { source: engine } }
`

void t.test(
  'if engines decide, the check of a redeployment tells a caller nothing about models that the caller may not read',
  { skip: javaSkip, timeout: 600_000 },
  async (t) => {
    const { old, next, gateway } = await startTwoFamilies(t, {
      engine:
        'shift: { to: new, reads: 1% }, credentials: forward, service: { username: demo, password: demo }',
      settings: '',
      secured: true,
      access: ACCESS,
    })
    const admin = { authorization: basicOf('demo', 'demo') }
    const mary = { authorization: basicOf('mary', 'mary') }
    const send = (path: string, body: object) => exchange(old.base, { method: 'POST', path, body }, admin)
    const profile = { id: 'mary', firstName: 'Mary', lastName: 'Mary', email: 'mary@localhost' }
    await send('/user/create', { profile, credentials: { password: 'mary' } })
    const forked = await deploy(next.base, 'forked.bpmn', OPERATON_MODEL, admin)
    const waiting = await deploy(old.base, 'waiting.bpmn', WAITING, admin)
    const countOf = async () =>
      (await exchange(old.base, { method: 'GET', path: '/deployment/count' }, admin)).body
    const before = await countOf()
    for (const id of [forked, waiting, 'missing']) {
      const direct = await redeploy(old.base, id, mary)
      t.match(direct, { status: 404, body: { message: `Deployment with id '${id}' does not exist` } })
      t.same(await redeploy(gateway.base, id, mary), direct, 'the gateway returns the response of the engine')
    }
    for (const resourceId of [forked, waiting])
      await send('/authorization/create', {
        type: 1,
        permissions: ['READ'],
        userId: 'mary',
        resourceType: 9,
        resourceId,
      })
    const refused = { status: 400, body: { message: /the namespace http:\/\/operaton\.org/ } }
    t.match(await redeploy(gateway.base, forked, mary), refused, 'a model that the caller may read')
    const direct = await redeploy(old.base, waiting, mary)
    t.match(direct, { status: 403, body: { type: 'AuthorizationException' } })
    t.same(await redeploy(gateway.base, waiting, mary), direct)
    t.match(await redeploy(gateway.base, forked, admin), refused)
    t.same(await countOf(), before, 'the engines have no new deployment')
    t.equal((await redeploy(gateway.base, waiting, admin)).status, 200)
  },
)

async function redeploy(base: string, id: string, headers: Readonly<Record<string, string>>) {
  const path = `/deployment/${id}/redeploy`
  const { status, body } = await exchange(base, { method: 'POST', path, body: {} }, headers)
  return { status, body }
}

/** Checks that the gateway reads the models that an engine would deploy again, and that they cannot change afterwards. */
async function checkRedeployments(
  t: Test,
  engine: string,
  { base, headers }: Pick<GatewayProcess, 'base' | 'headers'>,
): Promise<void> {
  const idOf = async (path: string) => {
    const { body } = await exchange(engine, { method: 'GET', path })
    const [first]: readonly unknown[] = Array.isArray(body) ? body : []
    return isRecord(first) ? String(first['id']) : ''
  }
  const redeployNamed = async (name: string) =>
    redeploy(base, await idOf(`/deployment?name=${name}`), headers)
  const countOf = async () => (await exchange(engine, { method: 'GET', path: '/deployment/count' })).body
  const before = await countOf()
  t.match(await redeployNamed('forked.bpmn'), {
    status: 400,
    body: { message: /the namespace http:\/\/operaton\.org\/schema\/1\.0\/bpmn/ },
  })
  t.same(await countOf(), before, 'the engine has no new deployment')
  t.match(await redeployNamed('waiting.bpmn'), { status: 200, body: { id: /./ } })

  const deployment = `/deployment/${await idOf('/deployment?name=forked.bpmn')}`
  const resource = `${deployment}/resources/${await idOf(`${deployment}/resources`)}`
  for (const path of [deployment, `${deployment}/resources`, resource, `${resource}/data`])
    for (const method of ['PUT', 'POST'] as const) {
      const { status } = await exchange(engine, { method, path, body: {} })
      t.equal(status, 405, `the engine has no ${method} that changes a deployed resource`)
    }
}

function formOf(name: string, model: string): FormData {
  const form = new FormData()
  form.append('deployment-name', name)
  form.append(name, new Blob([model]), name)
  return form
}

/** Returns the id of the deployment. */
async function deploy(
  base: string,
  name: string,
  model: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<string> {
  const request = { method: 'POST', path: '/deployment/create', body: formOf(name, model) } as const
  const { status, body } = await exchange(base, request, headers)
  if (status !== 200) throw new Error(`The deployment of ${name} failed: ${status} ${JSON.stringify(body)}`)
  return isRecord(body) ? String(body['id']) : ''
}

async function statusOfStart(base: string, key: string): Promise<number> {
  const path = `/process-definition/key/${key}/start`
  return (await exchange(base, { method: 'POST', path, body: {} })).status
}
