import t from 'tap'
import { openGateway, type OpenGateway } from '../../support/open-gateway.ts'

const SCRIPT = '<definitions><process><scriptTask/></process></definitions>'
const PLAIN = '<definitions><process/></definitions>'
const headers = { 'content-type': 'multipart/form-data; boundary=B' }

function upload(fileName: string, content: string) {
  const part = `Content-Disposition: form-data; name="data"; filename="${fileName}"\r\n\r\n${content}`
  return { headers, body: `--B\r\n${part}\r\n--B--\r\n` }
}

const gateway = await openGateway(t, {
  engines: {
    refusing: { validation: { scripts: 'refuse' } },
    ignoring: { validation: { scripts: 'off' } },
    lenient: { validation: { mode: 'report', scripts: 'refuse' } },
  },
  engine: (_request, response) => {
    response.setHeader('content-type', 'application/json')
    response.end('{"id":"d"}')
  },
})
const { ask } = gateway

async function rulesSeen({ log }: OpenGateway, decision: string): Promise<readonly unknown[]> {
  await new Promise(setImmediate)
  return log
    .filter((line) => line['stream'] === 'audit' && line['decision'] === decision)
    .map(({ rule }) => rule)
}

t.test('by default, a deployment with a script is sent, counted and logged', async (t) => {
  const { status, forwarded } = await ask('demo', 'POST /deployment/create', upload('a.bpmn', SCRIPT))
  t.same([status, forwarded.length], [200, 1])
  t.match(
    await gateway.dependencies.metrics.text(),
    /gateway_refusals_total\{[^}]*stage="body-report",reason="GW_HAZARD"\} 1/,
  )
  t.same(await rulesSeen(gateway, 'reported'), ['scripts'])
})

t.test('with `refuse`, a deployment with a script is refused and not sent', async (t) => {
  const route = 'POST /engine/refusing/deployment/create'
  for (const [name, content, message] of [
    ['a.bpmn', SCRIPT, "Refused by the rule 'scripts': a model contains the element scriptTask"],
    ['a.dmn', '<definitions', "Refused by the rule 'scripts': a model cannot be read"],
  ] as const)
    t.match(await ask('demo', route, upload(name, content)), {
      status: 400,
      headers: { 'x-gateway-error': 'GW_HAZARD' },
      body: { message },
      forwarded: [],
    })
  t.same(await rulesSeen(gateway, 'refused'), ['scripts', 'scripts'])
  t.equal((await ask('demo', route, upload('a.bpmn', PLAIN))).status, 200)
  t.equal((await ask('demo', route, upload('a.txt', SCRIPT))).status, 200, 'not a model')
  const attachment = await ask(
    'demo',
    'POST /engine/refusing/task/a/attachment/create',
    upload('a.bpmn', SCRIPT),
  )
  t.equal(attachment.headers['x-gateway-error'], undefined, 'an attachment is not deployed')
})

t.test(
  'in the mode `report`, a body is reported once if it has no parts, and for each rule that its models break',
  async (t) => {
    const route = 'POST /engine/lenient/deployment/create'
    const before = (await rulesSeen(gateway, 'reported')).length
    t.equal((await ask('demo', route, { headers, body: 'without parts' })).status, 200)
    t.same((await rulesSeen(gateway, 'reported')).slice(before), ['GW_BAD_MULTIPART'])
    const model = `<!DOCTYPE definitions>${SCRIPT}`
    t.equal((await ask('demo', route, upload('a.bpmn', model))).status, 200)
    t.same((await rulesSeen(gateway, 'reported')).slice(before + 1), ['doctype', 'scripts'])
  },
)

t.test('no model is searched with `off`, and the mode of validation bounds the setting', async (t) => {
  const before = (await rulesSeen(gateway, 'reported')).length
  t.equal(
    (await ask('demo', 'POST /engine/ignoring/deployment/create', upload('a.bpmn', SCRIPT))).status,
    200,
  )
  t.equal((await rulesSeen(gateway, 'reported')).length, before)
  t.equal((await ask('demo', 'POST /engine/lenient/deployment/create', upload('a.bpmn', SCRIPT))).status, 200)
  t.equal((await rulesSeen(gateway, 'reported')).length, before + 1)
})
