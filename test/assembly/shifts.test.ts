import t from 'tap'
import {
  adoptAnnounced,
  createEngineShift,
  formerShiftMsOf,
  formerShiftTimesOf,
  shiftOptionsOf,
  shiftSettingsId,
} from '../../src/assembly/shifts.ts'
import type { EngineConfig } from '../../src/config/config.ts'
import { createLogger } from '../../src/log.ts'
import { createMetrics } from '../../src/metrics/registry.ts'
import { Shift } from '../../src/proxy/nodes/shift.ts'
import type { ChangeBus } from '../../src/redis/change-bus.ts'
import { startNode } from '../support/fake-engine.ts'
import { startReloadable } from '../support/reloadable.ts'

const CONTEXT = { random: () => 0.5, now: () => 0, wallNow: () => 1000 }
const NODES = ['old', 'new'].map((group) => ({
  url: `http://${group}/engine-rest`,
  weight: 1,
  drain: false,
  group,
}))
const GUARD = { refusal: null, recheck: async () => null }
const SHIFT = {
  to: 'new',
  release: null,
  reads: 0.1,
  writes: 0,
  operations: null,
  callers: null,
  return: { errors: 0.05, slower: null, differences: null },
}

function open() {
  const published: string[] = []
  const publish: ChangeBus['publish'] = async (topic, about = '') => void published.push(`${topic} ${about}`)
  const dependencies = {
    metrics: createMetrics({ version: '' }),
    log: createLogger({ level: 'silent' }),
    changeBus: { publish },
    engineConfig: { shift: SHIFT },
  }
  const options = shiftOptionsOf('default', { nodes: NODES, shift: SHIFT }, dependencies, null)
  if (options === undefined) throw new Error('there are no groups')
  const shift = new Shift(options, CONTEXT)
  return { shift, published, own: createEngineShift('default', dependencies, shift, GUARD) }
}

/** Applies a message to the shift of a gateway with `settings`. Returns the number of lines in the log. */
function receive(shift: Shift | null, message: string, settings: EngineConfig['shift'] = SHIFT): number {
  let lines = 0
  const log = { warn: () => void (lines += 1) }
  adoptAnnounced('default', { settings, shift, log }, message.replace('default shift ', ''))
  return lines
}

function returnAt({ shift }: Pick<ReturnType<typeof open>, 'shift'>): void {
  for (let count = 0; count < 20; count += 1)
    shift.record('new', { operation: undefined, isFailed: true, readMs: null })
}

t.test('changed shares, and a return, are announced to other gateways', async (t) => {
  const { shift, own, published } = open()
  own?.change({ reads: 0.5, writes: 0.25 })
  returnAt({ shift })
  const about = `"settings":"${shiftSettingsId(SHIFT)}","to":"new"`
  t.same(published, [
    `default shift {${about},"state":{"shares":{"reads":0.5,"writes":0.25},"returned":null,"changedAtMs":1000,"knownMs":0}}`,
    `default shift {${about},"state":{"shares":{"reads":0,"writes":0},"returned":"errors","changedAtMs":1001,"knownMs":1000}}`,
  ])
  const other = open()
  for (const message of published) t.equal(receive(other.shift, message), 0)
  t.same(other.shift.state, shift.state)
  t.same(other.published, [], 'what was announced is not announced again')
  receive(other.shift, published[0] ?? '')
  t.same(other.shift.state, shift.state, 'an older change that arrives later has no effect')
})

t.test('gateways with another shift in their file apply a return, and no other change', async (t) => {
  const sender = open()
  const receiver = open()
  const settings = { ...SHIFT, reads: 0.2 }
  const before = receiver.shift.state
  sender.own?.change({ reads: 0.5, writes: 0 })
  receive(receiver.shift, sender.published[0] ?? '', settings)
  t.same(receiver.shift.state, before)
  returnAt(sender)
  const message = sender.published[1] ?? ''
  receive(receiver.shift, message.replace('"to":"new"', '"to":"old"'), settings)
  t.same(receiver.shift.state, before, 'the same groups in the other direction')
  receive(receiver.shift, message, settings)
  t.same(receiver.shift.state, sender.shift.state)
})

const messageOf = (state: unknown, more: object = {}) =>
  JSON.stringify({ settings: shiftSettingsId(SHIFT), to: 'new', state, ...more })

t.test('an announcement of another form has no effect, and is logged', (t) => {
  const { shift } = open()
  const before = shift.state
  const shares = { reads: 1, writes: 0 }
  const state = { shares, returned: null, changedAtMs: 1, knownMs: 0 }
  for (const about of [
    '',
    '{',
    'null',
    '[]',
    '{}',
    JSON.stringify(state),
    messageOf(null),
    messageOf(state, { settings: 1 }),
    messageOf(state, { to: null }),
    messageOf(state, { more: 1 }),
    messageOf({ ...state, more: 1 }),
    messageOf({ ...state, shares: null }),
    messageOf({ ...state, shares: { reads: 1 } }),
    messageOf({ ...state, shares: { ...shares, polls: 1 } }),
    messageOf({ ...state, shares: { ...shares, reads: '1' } }),
    messageOf({ ...state, shares: { ...shares, reads: 1.01 } }),
    messageOf({ ...state, shares: { ...shares, writes: -0.5 } }),
    messageOf({ ...state, shares: { ...shares, reads: null } }),
    messageOf({ ...state, returned: 'another reason' }),
    messageOf({ ...state, returned: undefined }),
    messageOf({ ...state, changedAtMs: undefined }),
    messageOf({ ...state, changedAtMs: 0 }),
    messageOf({ ...state, changedAtMs: 1.5 }),
    messageOf({ ...state, changedAtMs: 1e300 }),
    // The next change would have a time that is not a safe integer.
    messageOf({ ...state, changedAtMs: Number.MAX_SAFE_INTEGER }),
    messageOf({ ...state, knownMs: 1 }),
    messageOf({ ...state, knownMs: -1 }),
    messageOf({ shares, returned: null, changedAtMs: 1 }),
  ]) {
    t.equal(receive(shift, about), 1, about)
    t.same(shift.state, before, about)
  }
  t.equal(receive(null, messageOf(state)), 0)
  t.equal(receive(shift, messageOf(state)), 0)
  t.same(shift.state, state)
  t.end()
})

/** Returns the settings of a file with a share of the reads. */
const fileWith = (reads: number) => ({ engines: { default: { shift: { ...SHIFT, reads } } } })

t.test(
  'a process remembers when shares changed under former files, also if a later one did not change them',
  (t) => {
    const [first, second] = [fileWith(0.1), fileWith(0.2)]
    const { shift, own } = open()
    own?.change({ reads: 0.5, writes: 0 })
    const unchanged = open().shift
    // Engines without groups have no times that could replace others.
    const others = Array.from({ length: 200 }, (_, at): [string, null] => [`engine${at}`, null])
    let times = formerShiftTimesOf(null)
    for (const [config, last] of [
      [first, shift],
      [second, unchanged],
      [first, unchanged],
      [second, unchanged],
    ] as const) {
      const shifts = new Map([['default', last], ...others])
      times = formerShiftTimesOf({ config, shifts, formerShiftTimes: times })
    }
    t.equal(formerShiftMsOf('default', first, times), 1000)
    t.equal(formerShiftMsOf('default', second, times), 0)
    t.equal(times.size, 2)
    t.end()
  },
)

t.test('a process remembers the newest times, at most a hundred', (t) => {
  const { shift, own } = open()
  own?.change({ reads: 0.5, writes: 0 })
  let times = formerShiftTimesOf(null)
  // The first file is used again and again, without another change.
  const unchanged = open().shift
  for (let at = 1; at <= 150; at += 1)
    for (const [reads, last] of [
      [0.001, at === 1 ? shift : unchanged],
      [0.001 + at / 1000, shift],
    ] as const)
      times = formerShiftTimesOf({
        config: fileWith(reads),
        shifts: new Map([['default', last]]),
        formerShiftTimes: times,
      })
  t.equal(times.size, 100)
  for (const [reads, expected] of [
    [0.001, 1000],
    [0.151, 1000],
    [0.053, 1000],
    [0.051, 0],
  ] as const)
    t.equal(formerShiftMsOf('default', fileWith(reads), times), expected, `${reads}`)
  t.end()
})

const node = await startNode(t, (_request, response) => response.end('{}'))

/** Returns the settings of an engine with two groups. */
const engineOf = (reads: string) => ({
  nodes: NODES.map(({ group }) => ({ url: `${node.url}/${group}`, group })),
  shift: { to: 'new', reads },
})

t.test('a reload of other settings keeps the shares, and a changed shift begins again', async (t) => {
  const { running, reload } = await startReloadable(t, {
    engines: { default: engineOf('10%') },
    health: { probe: false },
    admin: { port: 0 },
  })
  const sharesOf = async (change: unknown = {}) => {
    const response = await fetch(`${running.adminAddress}/shift`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-requested-by': 'test' },
      body: JSON.stringify(change),
    })
    return response.json()
  }
  t.match(await sharesOf({ reads: '70%' }), { reads: 0.7 })
  const others = { health: { probe: false }, admin: { port: 0 } }
  await reload({ ...others, engines: { default: engineOf('10%') }, limits: { connections: 7 } })
  t.match(await sharesOf(), { reads: 0.7 })
  await reload({ ...others, engines: { default: engineOf('20%') }, limits: { connections: 7 } })
  t.match(await sharesOf(), { reads: 0.2 })
})

t.test('the status has the groups of an engine, their shares and the comparison', async (t) => {
  const { running } = await startReloadable(t, {
    engines: { default: { ...engineOf('12.5%'), compare: {} } },
    health: { probe: false },
    admin: { port: 0 },
  })
  t.match(await (await fetch(`${running.adminAddress}/status.json`)).json(), {
    engines: [
      {
        nodes: [{ group: 'old' }, { group: 'new' }],
        groups: {
          to: 'new',
          from: 'old',
          reads: 0.125,
          writes: 0,
          returned: null,
          refused: null,
          compared: { results: {}, waiting: 0, differences: [] },
        },
      },
    ],
  })
})
