import { connect } from 'node:net'
import { parseArgs } from 'node:util'

// Holds very many long polls at once, each on its own connection. To use few resources, it has no HTTP client and no
// promises. It prints `waiting` when all polls are sent, and a report at the end.

/** The results of the polls. */
export interface PollReport {
  /** Number of responses with 200 and a list. */
  readonly answered: number
  /** Number of other results, by response or error. */
  readonly others: Readonly<Record<string, number>>
  /** The longest duration of a poll. */
  readonly longestMs: number
}

const { values } = parseArgs({
  options: {
    port: { type: 'string', default: '0' },
    count: { type: 'string', default: '1' },
    hold: { type: 'string', default: '1000' },
    authorization: { type: 'string', default: '' },
  },
})
const [port, count] = [Number(values.port), Number(values.count)]
/** 400 a second, which a slow machine accepts too. `faults/burst` tests a very large number at once. */
const AT_ONCE = 8
const EVERY_MS = 20

let begun = 0
let sent = 0
let over = 0
let answered = 0
let longestMs = 0
const others: Record<string, number> = {}

const pace = setInterval(() => {
  for (let one = 0; one < AT_ONCE && begun < count; one += 1) begin()
  if (begun === count) clearInterval(pace)
}, EVERY_MS)

function begin(): void {
  begun += 1
  const request = requestOf(begun)
  const socket = connect(port, '127.0.0.1')
  let sentAtMs = 0
  let said = ''
  const end = (what: string): void => {
    longestMs = Math.max(longestMs, performance.now() - sentAtMs)
    if (/^HTTP\/1\.1 200 [^]*\r\n\r\n\[.*\]$/.test(what)) answered += 1
    else others[what.slice(0, 200)] = (others[what.slice(0, 200)] ?? 0) + 1
    over += 1
    if (over === count) tell()
  }
  socket.on('connect', () => {
    sentAtMs = performance.now()
    socket.write(request)
    sent += 1
    if (sent === count) process.stdout.write('waiting\n')
  })
  socket.on('data', (chunk) => {
    said += chunk.toString('latin1')
    socket.end()
  })
  socket.on('error', ({ message }) => {
    said ||= message
  })
  socket.on('close', () => end(said))
}

function requestOf(worker: number): string {
  const body = JSON.stringify({
    workerId: `worker-${worker}`,
    maxTasks: 5,
    usePriority: true,
    asyncResponseTimeout: Number(values.hold),
    topics: [{ topicName: 'nothing', lockDuration: 10_000 }],
  })
  const head = [
    'POST /engine-rest/external-task/fetchAndLock HTTP/1.1',
    `Host: 127.0.0.1:${port}`,
    `Authorization: ${values.authorization}`,
    'Accept: application/json',
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}

function tell(): void {
  const report: PollReport = { answered, others, longestMs }
  process.stdout.write(`${JSON.stringify(report)}\n`)
}
