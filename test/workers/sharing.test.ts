import { createServer } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { pino } from 'pino'
import t from 'tap'
import { createSharing, type SharingWorker, type SocketCopy } from '../../src/workers/sharing.ts'

interface SharingFake extends SharingWorker {
  readonly calls: string[]
}

interface CopyFake extends SocketCopy {
  isClosed: boolean
}

function createCopy(): CopyFake {
  const copy: CopyFake = { isClosed: false, close: () => void (copy.isClosed = true) }
  return copy
}

function createWorker(accept: () => Promise<unknown> = () => Promise.resolve(createCopy())): SharingFake {
  const calls: string[] = []
  return {
    calls,
    accept: () => {
      calls.push('accept')
      return accept()
    },
    countConnections: () => Promise.resolve({ open: 0, ended: 0 }),
    stopAccepting: () => {
      calls.push('stop')
      return Promise.resolve()
    },
  }
}

function open(...workers: readonly [SharingFake, ...SharingFake[]]) {
  const resumed: SocketCopy[] = []
  let [nowMs, ended, isClosed] = [0, 0, false]
  const server = createServer()
  server.close = () => {
    isClosed = true
    return server
  }
  const sharing = createSharing({
    workers: new Set(workers),
    server: () => server,
    resume: (copy) => void resumed.push(copy),
    log: pino({ level: 'silent' }),
    now: () => nowMs,
  })
  sharing.note(workers[0], { open: 0, ended: 0 })
  /** Notes that connections of the first worker have ended at this rate for some seconds, and how many are open. */
  const noteRate = async (perSecond: number, seconds = 3, openNow = 0) => {
    for (let second = 0; second < seconds; second += 1) {
      nowMs += 1000
      ended += perSecond
      sharing.note(workers[0], { open: openNow, ended })
    }
    for (let count = 0; count < 5; count += 1) await turn()
  }
  return { sharing, noteRate, resumed, isClosed: () => isClosed }
}

t.test('if many connections end, all workers accept, and the primary only keeps a copy', async (t) => {
  const copies = [createCopy(), createCopy()]
  const workers = copies.map((copy) => createWorker(() => Promise.resolve(copy)))
  const [first = createWorker(), second = createWorker()] = workers
  const { sharing, noteRate, resumed, isClosed } = open(first, second)
  await noteRate(299)
  t.same([first.calls, second.calls, isClosed()], [[], [], false])
  await noteRate(300)
  t.same([first.calls, second.calls, isClosed()], [['accept'], ['accept'], true])
  t.same(
    copies.map((copy) => copy.isClosed),
    [false, true],
  )
  sharing.end()
  t.equal(resumed[0], copies[0])
  t.same(
    [first.calls, second.calls],
    [
      ['accept', 'stop'],
      ['accept', 'stop'],
    ],
  )
})

t.test('connections that all end at once change nothing', async (t) => {
  const worker = createWorker()
  const { noteRate } = open(worker)
  await noteRate(5000, 2)
  await noteRate(299, 1)
  await noteRate(5000, 2)
  t.same(worker.calls, [])
})

t.test('if few connections end, the primary accepts again', async (t) => {
  const worker = createWorker()
  const { noteRate, resumed } = open(worker)
  await noteRate(1000)
  await noteRate(100)
  t.same([worker.calls, resumed.length], [['accept'], 0])
  await noteRate(99)
  t.same([worker.calls, resumed.length], [['accept', 'stop'], 1])
  await noteRate(1000)
  t.same(worker.calls, ['accept', 'stop', 'accept'], 'and the workers, if many end again')
})

t.test('the primary accepts until all workers have confirmed', async (t) => {
  const confirmed = Promise.withResolvers<unknown>()
  const late = createWorker(() => confirmed.promise)
  const { noteRate, isClosed } = open(createWorker(), late)
  await noteRate(1000)
  t.notOk(isClosed())
  confirmed.resolve(createCopy())
  await noteRate(1000)
  t.ok(isClosed())
})

t.test('a worker that exits before it has confirmed is not waited for', async (t) => {
  const { noteRate, isClosed } = open(
    createWorker(),
    createWorker(() => Promise.reject(new Error('has exited'))),
  )
  await noteRate(1000)
  t.ok(isClosed())
})

t.test('without a copy, the primary continues to accept', async (t) => {
  for (const answer of [null, undefined, 7, {}]) {
    const worker = createWorker(() => Promise.resolve(answer))
    const { noteRate, isClosed, resumed } = open(worker)
    await noteRate(1000)
    t.same([worker.calls, isClosed(), resumed], [['accept', 'stop'], false, []])
    await noteRate(1000, 2)
    t.same(worker.calls, ['accept', 'stop'])
    await noteRate(1000, 1)
    t.same(worker.calls, ['accept', 'stop', 'accept', 'stop'], 'and tries again')
  }
})

t.test('a copy that arrives after the end is closed', async (t) => {
  const confirmed = Promise.withResolvers<unknown>()
  const worker = createWorker(() => confirmed.promise)
  const { sharing, noteRate, isClosed, resumed } = open(worker)
  await noteRate(1000)
  sharing.end()
  const copy = createCopy()
  confirmed.resolve(copy)
  await noteRate(0)
  t.same([copy.isClosed, isClosed(), resumed], [true, false, []])
})

t.test('a worker with many more open connections than an even share ends the sharing', async (t) => {
  const [first, second] = [createWorker(), createWorker()]
  const { sharing, noteRate, resumed } = open(first, second)
  // 1.5 times the even share of 500, and 64.
  sharing.note(second, { open: 1000 - 814, ended: 0 })
  await noteRate(1000, 4, 814)
  t.same([first.calls, resumed.length], [['accept'], 0])
  await noteRate(1000, 1, 815)
  t.same([first.calls, second.calls, resumed.length], [['accept', 'stop'], ['accept', 'stop'], 1])
  await noteRate(1000, 5, 815)
  t.same(first.calls, ['accept', 'stop'], 'and prevents another one')
  await noteRate(1000, 2, 814)
  t.same(first.calls, ['accept', 'stop'])
  await noteRate(1000, 1, 814)
  t.same(first.calls, ['accept', 'stop', 'accept'])
})

t.test('an answer without counts changes nothing', async (t) => {
  const worker = createWorker()
  const { sharing, noteRate } = open(worker)
  for (const answer of [undefined, null, 7, {}, { open: 0 }, { ended: 9000 }, { open: '0', ended: 9000 }])
    sharing.note(worker, answer)
  await noteRate(299)
  t.same(worker.calls, [])
})
