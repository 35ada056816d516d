import t from 'tap'
import { StartFinder } from '../../../../src/policy/authz/entities/start-finder.ts'

const START = '<startEvent id="start"><signalEventDefinition signalRef="s"/></startEvent>'
const modelOf = (key: string | undefined, start: string, signal: string) =>
  `<definitions><signal id="s" name="${signal}"/><process id="${key}">${start}</process></definitions>`

interface Odd {
  /** The id of a definition whose model cannot be read. */
  readonly unreadable?: string
  /** The id of one that is suspended. */
  readonly suspended?: string
  /** What the signal of the last definition is called. */
  readonly lastSignal?: string
}

/** An engine with so many definitions, of which the first and the last are started by a signal. */
function findIn(count: number, { unreadable, suspended, lastSignal = 'go' }: Odd = {}) {
  const definitions = Array.from({ length: count }, (_, at) => ({
    id: `d${at}`,
    key: `d${at}`,
    tenantId: null,
    suspended: `d${at}` === suspended,
  }))
  const subscription = { executionId: null, activityId: 'start', eventName: 'go', tenantId: null }
  const started = [definitions[0]?.id, definitions.at(-1)?.id]
  return new StartFinder(async (path) => {
    const { pathname, searchParams } = new URL(path, 'http://engine')
    if (pathname === '/event-subscription') return [subscription, subscription]
    if (pathname === '/process-definition')
      return definitions.slice(0, Number(searchParams.get('maxResults')))
    const id = pathname.split('/')[2]
    const signal = id === started.at(-1) ? lastSignal : 'go'
    const model = modelOf(id, started.includes(id) ? START : '', signal)
    return { bpmn20Xml: id === unreadable ? '<definitions>' : model }
  })
}

t.test('what an event starts is sought among all definitions, or not at all', async (t) => {
  const found = await findIn(2000).startedBy('signal', { eventName: 'go' })
  t.match(found, [{ processDefinitionKey: 'd0' }, { processDefinitionKey: 'd1999' }])
  t.equal(await findIn(2001).startedBy('signal', { eventName: 'go' }), null)
})

t.test('so are all definitions', async (t) => {
  t.equal((await findIn(2000).definitions())?.length, 2000)
  t.equal(await findIn(2001).definitions(), null)
})

/** The keys of the definitions that a signal starts, of three of which one may have an unreadable model. */
async function keysOf(unreadable?: string) {
  const found = await findIn(3, unreadable === undefined ? {} : { unreadable }).startedBy('signal', {
    eventName: 'go',
  })
  return found?.map(({ processDefinitionKey }) => processDefinitionKey)
}

t.test('a definition whose model cannot be read counts as started', async (t) => {
  t.same(await keysOf(), ['d0', 'd2'])
  t.same(await keysOf('d1'), ['d0', 'd1', 'd2'], 'the caller needs the permission to start it, too')
  t.same(await keysOf('d2'), ['d0', 'd2'])
})

t.test('a suspended definition is not started', async (t) => {
  const found = await findIn(3, { suspended: 'd2' }).startedBy('signal', { eventName: 'go' })
  t.same(
    found?.map(({ processDefinitionKey }) => processDefinitionKey),
    ['d0'],
  )
})

/** The keys of those that the signal `go` starts, where the last one's signal has another name. */
async function startedWith(lastSignal: string) {
  const found = await findIn(3, { lastSignal }).startedBy('signal', { eventName: 'go' })
  return found?.map(({ processDefinitionKey }) => processDefinitionKey)
}

t.test('a start event of another name is not meant, one whose name is an expression may be', async (t) => {
  t.same(await startedWith('stop'), ['d0'])
  t.same(await startedWith('${name}'), ['d0', 'd2'])
})
