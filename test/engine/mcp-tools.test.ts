import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pino } from 'pino'
import t, { type Test } from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { bodyText } from '../../src/request/body.ts'
import { javaSkip } from '../support/requirements.ts'
import { start } from '../support/start.ts'
import { connectTools } from '../support/tool-client.ts'
import { type Engine, startEngine } from './engine.ts'
import { exchange } from './exchange.ts'
import { seed } from './seed.ts'

const DEMO = new URL('../../config/', import.meta.url).pathname

void t.test(
  'the official client lists, reads, starts and completes at an engine',
  { skip: javaSkip },
  async (t) => {
    const engine = await startEngine({ family: 'operaton' })
    t.teardown(() => engine.stop())
    await seed(engine.base)
    const gateway = await start(loadConfig(configFile(t, engine)), pino({ level: 'silent' }))
    t.teardown(gateway.drain)
    for (const [path, mode] of [
      ['/mcp', 'legacy'],
      ['/mcp/engine/default', 'auto'],
    ] as const) {
      const { names, call } = await connectTools(t, gateway.address, 'demo', { path, mode })
      t.ok((await names()).includes('startProcessInstanceByKey'))
      const definitions = await call('getProcessDefinitions', { latestVersion: true })
      t.match(definitions.texts[0], /"key":"review"/)
      const businessKey = `case ${mode}/1`
      const started = await call('startProcessInstanceByKey', {
        key: 'review',
        body: { businessKey, variables: { amount: { value: 12, type: 'Integer' } } },
      })
      const instance = bodyText(JSON.parse(started.texts[0] ?? ''), 'id')
      t.match(await call('getProcessInstances', { businessKey }), {
        structured: { items: [{ id: instance }] },
      })
      t.match(await call('getProcessInstanceVariables', { id: instance }), {
        structured: { amount: { value: 12 } },
      })
      const tasks = await call('getTasks', { processInstanceId: instance })
      const task = bodyText(JSON.parse(tasks.texts[0] ?? ''), '0.id')
      t.match(await call('getTask', { id: task }), { isError: false, structured: { id: task } })
      t.match(await call('claim', { id: task, body: { userId: 'demo' } }), { isError: false })
      t.match(await call('complete', { id: task, body: { variables: { ok: { value: true } } } }), {
        isError: false,
      })
      const { status } = await exchange(engine.base, { method: 'GET', path: `/task/${task}` })
      t.equal(status, 404, 'the task is complete at the engine')
      t.match((await call('getTask', { id: task })).texts, [
        /^HTTP 404 InvalidRequestException: .*No matching task/,
      ])
      const xml = await call('getProcessDefinitionBpmn20Xml', {
        id: bodyText(JSON.parse(started.texts[0] ?? ''), 'definitionId'),
      })
      t.match(xml.texts[0], /bpmn20Xml/)
    }
  },
)

function configFile(t: Test, { base }: Engine): string {
  const file = join(t.testdir({}), 'gateway.yaml')
  const config = {
    version: 1,
    listen: { port: 0 },
    admin: { port: 0 },
    log: { audit: 'off' },
    mcp: {},
    engines: { default: { nodes: [base] } },
    identity: { source: 'file', file: `${DEMO}users.yaml` },
    authorization: { records: { source: 'file', file: `${DEMO}authorizations.yaml` } },
  }
  writeFileSync(file, JSON.stringify(config))
  return file
}
