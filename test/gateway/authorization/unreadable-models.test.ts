import t from 'tap'
import { BASE, openGateway } from '../../support/open-gateway.ts'

const START = '<startEvent id="start"><messageEventDefinition messageRef="m"/></startEvent>'
const modelOf = (key: string) =>
  `<definitions><message id="m" name="${key}-ordered"/><process id="${key}">${START}</process></definitions>`

/** `read` has a model in ISO-8859-1, `hidden` one that the gateway does not read, `gone` one whose file the engine lacks. */
const MODELS: Readonly<Record<string, Buffer>> = {
  read: Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?><!-- \u00e4 -->${modelOf('read')}`, 'latin1'),
  hidden: Buffer.from(`<!DOCTYPE definitions>${modelOf('hidden')}`),
  gone: Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?><!-- \u00e4 -->${modelOf('gone')}`, 'latin1'),
}
let keys = ['read']

/** The bytes of a response: of the model, of its deployment, or of a list. */
function responseTo(path: string): Buffer {
  const [, kind, id, part] = path.slice(BASE.length).split('/')
  const key = decodeURIComponent(id ?? '').replace(/^in-|:1$/g, '')
  if (kind === 'deployment' && path.endsWith('/data')) return MODELS[key] ?? Buffer.of()
  return Buffer.from(JSON.stringify(valueOf(kind, key, part)))
}

function valueOf(kind = '', key = '', part = ''): unknown {
  if (kind === 'deployment') return [{ id: 'r1', name: `${key}.bpmn` }]
  if (kind === 'event-subscription')
    return [{ executionId: null, activityId: 'start', eventName: 'read-ordered', tenantId: null }]
  if (kind !== 'process-definition') return []
  if (part === 'xml') return { id: `${key}:1`, bpmn20Xml: MODELS[key]?.toString('utf8') }
  return keys.map((one) => ({
    id: `${one}:1`,
    key: one,
    tenantId: null,
    suspended: false,
    deploymentId: `in-${one}`,
    resource: `${one}.bpmn`,
  }))
}

t.test('a model that cannot be read is named in the log once, and needs a permission', async (t) => {
  const { ask, log } = await openGateway(t, {
    records: ['grant ben PROCESS_DEFINITION:read CREATE_INSTANCE', 'grant ben PROCESS_INSTANCE:* CREATE'],
    engine: ({ url }, response) => {
      const { pathname } = new URL(url, 'http://engine')
      const isGone = pathname.endsWith('/data') && pathname.includes('in-gone')
      response.writeHead(isGone ? 404 : 200, { 'content-type': 'application/json' }).end(responseTo(pathname))
    },
  })
  const send = () => ask('ben', 'POST /message', { body: { messageName: 'read-ordered' } })
  const warnings = () => log.filter(({ level }) => level === 'warn')
  t.equal((await send()).status, 200, 'the model in ISO-8859-1 is read')
  t.same(warnings(), [])
  keys = ['read', 'hidden']
  for (const _ of [1, 2]) t.match(await send(), { status: 403, body: { resourceId: 'hidden' } })
  t.match(warnings(), [{ engine: 'default', processDefinitionId: 'hidden:1' }])
  keys = ['read', 'gone']
  t.equal((await send()).status, 200, 'without the file, the text of the model is read')
  t.match(warnings()[0]?.['msg'], /^the model of a process definition cannot be read: /)
})
