import t from 'tap'
import { StartFinder } from '../../../../src/policy/authz/entities/start-finder.ts'

const START = '<startEvent id="start"><signalEventDefinition signalRef="s"/></startEvent>'
const modelOf = (key: string | undefined, start: string, signal: string) =>
  `<definitions><signal id="s" name="${signal}"/><process id="${key}">${start}</process></definitions>`

interface Odd {
  /** The id of a definition whose model cannot be read. */
  readonly unreadable?: string
  /** The id of a suspended definition. */
  readonly suspended?: string
  /** The name of the signal that starts the last definition. */
  readonly lastSignal?: string
  /** The bytes of the model of the definition `d1`, which its deployment contains as a resource. */
  readonly bytes?: Buffer
}

/** Opens a finder in front of an engine with `count` definitions. A signal starts the first and the last of them. */
function findIn(count: number, { unreadable, suspended, lastSignal = 'go', bytes }: Odd = {}) {
  const definitions = Array.from({ length: count }, (_, at) => ({
    id: `d${at}`,
    key: `d${at}`,
    tenantId: null,
    deploymentId: `in-d${at}`,
    resource: 'model.bpmn',
    suspended: `d${at}` === suspended,
  }))
  const subscription = { executionId: null, activityId: 'start', eventName: 'go', tenantId: null }
  const started = [definitions[0]?.id, definitions.at(-1)?.id]
  const unreadableIds: string[] = []
  const paths: string[] = []
  const read = async (path: string) => {
    paths.push(path)
    const { pathname, searchParams } = new URL(path, 'http://engine')
    if (pathname === '/event-subscription') return [subscription, subscription]
    if (pathname === '/process-definition')
      return definitions.slice(0, Number(searchParams.get('maxResults')))
    const id = pathname.split('/')[2]
    const signal = id === started.at(-1) ? lastSignal : 'go'
    const model = modelOf(id, started.includes(id) ? START : '', signal)
    const own = id === 'd1' && bytes !== undefined ? bytes.toString('utf8') : model
    return { id, bpmn20Xml: id === unreadable ? '<definitions>' : own }
  }
  const readBytes = async (path: string) => {
    paths.push(path)
    if (path === '/deployment/in-d1/resources') return Buffer.from(JSON.stringify(RESOURCES))
    return path === '/deployment/in-d1/resources/r2/data' ? (bytes ?? null) : null
  }
  const finder = new StartFinder({ read, readBytes, onUnreadable: (id) => unreadableIds.push(id) })
  return { finder, unreadableIds, paths, startedBy: () => finder.startedBy('signal', { eventName: 'go' }) }
}

const RESOURCES = [
  { id: 'r1', name: 'other.bpmn' },
  { id: 'r2', name: 'model.bpmn' },
]

t.test(
  'the definitions that an event starts are searched in a list of all definitions, or not at all',
  async (t) => {
    const found = await findIn(2000).startedBy()
    t.match(found, [{ processDefinitionKey: 'd0' }, { processDefinitionKey: 'd1999' }])
    t.equal(await findIn(2001).startedBy(), null)
  },
)

t.test('all definitions are listed, or none if there are too many', async (t) => {
  t.equal((await findIn(2000).finder.definitions())?.length, 2000)
  t.equal(await findIn(2001).finder.definitions(), null)
})

/** Returns the keys of the definitions that the signal `go` starts. The engine has three definitions, one of which may have an unreadable model. */
async function keysOf(unreadable?: string) {
  const found = await findIn(3, unreadable === undefined ? {} : { unreadable }).startedBy()
  return found?.map(({ processDefinitionKey }) => processDefinitionKey)
}

t.test('a definition whose model cannot be read counts as started', async (t) => {
  t.same(await keysOf(), ['d0', 'd2'])
  t.same(await keysOf('d1'), ['d0', 'd1', 'd2'], 'the caller needs the permission to start it, too')
  t.same(await keysOf('d2'), ['d0', 'd2'])
})

t.test('a suspended definition is not started', async (t) => {
  const found = await findIn(3, { suspended: 'd2' }).startedBy()
  t.same(
    found?.map(({ processDefinitionKey }) => processDefinitionKey),
    ['d0'],
  )
})

/** Returns the keys of the definitions that the signal `go` starts if the last definition has a signal with this name. */
async function startedWith(lastSignal: string) {
  const found = await findIn(3, { lastSignal }).startedBy()
  return found?.map(({ processDefinitionKey }) => processDefinitionKey)
}

t.test(
  'a start event with another name does not match, and one whose name is an expression may match',
  async (t) => {
    t.same(await startedWith('stop'), ['d0'])
    t.same(await startedWith('${name}'), ['d0', 'd2'])
  },
)

/** Returns a model of `d1` that a signal with this name starts. It has an encoding that is lost in the engine's JSON. */
function latinModel(signal: string): Buffer {
  const model = modelOf('d1', START, signal).replace('<process', '<message id="b\u00e4r"/><process')
  return Buffer.from(`<?xml version="1.0" encoding="ISO-8859-1"?>${model}`, 'latin1')
}

t.test('a model in another encoding than UTF-8 is read from the bytes of its resource', async (t) => {
  for (const [signal, keys] of [
    ['go', ['d0', 'd1', 'd2']],
    ['g\u00f6', ['d0', 'd2']],
  ] as const) {
    const { startedBy, paths, unreadableIds } = findIn(3, { bytes: latinModel(signal) })
    for (const _ of [1, 2])
      t.same(
        (await startedBy())?.map(({ processDefinitionKey }) => processDefinitionKey),
        keys,
        signal,
      )
    t.equal(paths.filter((path) => path.endsWith('/r2/data')).length, 1, 'the bytes are read once')
    t.same(unreadableIds, [])
  }
})

t.test('in an encoding that is not read, a name with a lost character may be any name', async (t) => {
  const text = latinModel('g\u00f6').toString('latin1').replace('8859-1', '8859-5')
  const found = await findIn(3, { bytes: Buffer.from(text, 'latin1') }).startedBy()
  t.same(
    found?.map(({ processDefinitionKey }) => processDefinitionKey),
    ['d0', 'd1', 'd2'],
  )
})

t.test('a model that cannot be read is reported once', async (t) => {
  const { startedBy, unreadableIds } = findIn(3, { unreadable: 'd1' })
  await startedBy()
  await startedBy()
  t.same(unreadableIds, ['d1'])
})
