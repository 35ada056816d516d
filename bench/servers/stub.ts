import { createServer } from 'node:net'
import { parseArgs } from 'node:util'

// An engine that needs almost no CPU time. It has no HTTP parser, and its responses are prepared. It reads one request at a time on each
// connection, as a gateway or a proxy sends it. It must never limit a measurement. It never responds to long polls.

const { values } = parseArgs({ options: { port: { type: 'string', default: '0' } } })

const HEAD_END = '\r\n\r\n'
const DEFINITION = {
  id: 'invoice:1:9f0b5b1e-95f1-11ef-9ad2-0242ac120002',
  key: 'invoice',
  category: 'http://www.omg.org/spec/BPMN/20100524/MODEL',
  description: null,
  name: 'Invoice Receipt',
  version: 1,
  resource: 'invoice.v1.bpmn',
  deploymentId: '9eed44cb-95f1-11ef-9ad2-0242ac120002',
  diagram: null,
  suspended: false,
  tenantId: null,
  versionTag: 'V1.0',
  historyTimeToLive: 30,
  startableInTasklist: true,
}
const JSON_ANSWER = jsonAnswerOf(DEFINITION)
/** The prepared responses of single entities, by path. */
const ENTITIES = new Map<string, Buffer>()
const LIST_ANSWER = jsonAnswerOf(
  Array.from({ length: 10 }, (_, index) => ({
    ...DEFINITION,
    id: `invoice:${index}:${index}`,
    version: index,
  })),
)
/** The gateway counts the case definitions. With a count of 0, it needs no further lookups of cases. */
const COUNT_ANSWER = jsonAnswerOf({ count: 0 })
const DIAGRAM_ANSWER = answerOf(
  [
    `Content-Disposition: attachment; filename="dish.png"; filename*=UTF-8''dish.png`,
    'Content-Type: image/png',
  ],
  Buffer.alloc(8192, 'diagram '),
)
const DOWNLOAD_ANSWER = answerOf(['Content-Type: application/octet-stream'], Buffer.alloc(1024 ** 2, 'bytes'))
const DEPLOYMENT = {
  name: 'Invoice Receipt',
  source: 'process application',
  deploymentTime: '2026-01-01T00:00:00.000+0000',
  tenantId: null,
}
const DEPLOYMENTS = Array.from({ length: 1000 }, (_, index) => ({ id: `deployment-${index}`, ...DEPLOYMENT }))
/** The prepared pages of deployments, by first item and size. */
const PAGES = new Map<string, Buffer>()

createServer((socket) => {
  let pending: Buffer | null = null
  socket.setNoDelay(true)
  socket.on('error', () => socket.destroy())
  socket.on('data', (chunk) => {
    const bytes: Buffer = pending === null ? chunk : Buffer.concat([pending, chunk])
    const isWhole = hasWholeRequest(bytes)
    pending = isWhole ? null : bytes
    if (isWhole && !bytes.includes(' /engine-rest/external-task/fetchAndLock')) socket.write(answerTo(bytes))
  })
}).listen(Number(values.port), '127.0.0.1')

function answerTo(request: Buffer): Buffer {
  if (request.includes('/diagram HTTP')) return DIAGRAM_ANSWER
  if (request.includes('/process-definition?')) return LIST_ANSWER
  if (request.includes('/deployment?')) return deploymentsIn(firstLineOf(request))
  if (request.includes('/data HTTP')) return DOWNLOAD_ANSWER
  if (request.includes('/decision-definition/key/') || request.includes('/deployment/'))
    return entityIn(firstLineOf(request))
  return request.includes('/count HTTP') || request.includes('/count?') ? COUNT_ANSWER : JSON_ANSWER
}

function firstLineOf(request: Buffer): string {
  return request.toString('latin1', 0, request.indexOf('\r'))
}

/** Returns the decision definition or the deployment that the first line of a request names. */
function entityIn(line: string): Buffer {
  const [path = '', type, name = ''] = /\/(decision-definition\/key|deployment)\/([\w-]+)/.exec(line) ?? []
  const entity =
    type === 'deployment' ? { id: name, ...DEPLOYMENT } : { ...DEFINITION, id: `${name}:1:1`, key: name }
  const prepared = ENTITIES.get(path) ?? jsonAnswerOf(entity)
  ENTITIES.set(path, prepared)
  return prepared
}

/** Returns the page of deployments that the first line of a request names. */
function deploymentsIn(line: string): Buffer {
  const at = (name: string, otherwise: number) =>
    Number(new RegExp(`[?&]${name}=(\\d+)`).exec(line)?.[1] ?? otherwise)
  const [first, size] = [at('firstResult', 0), at('maxResults', DEPLOYMENTS.length)]
  const page = PAGES.get(`${first} ${size}`) ?? jsonAnswerOf(DEPLOYMENTS.slice(first, first + size))
  PAGES.set(`${first} ${size}`, page)
  return page
}

function jsonAnswerOf(value: unknown): Buffer {
  return answerOf(['Content-Type: application/json'], Buffer.from(JSON.stringify(value)))
}

function hasWholeRequest(bytes: Buffer): boolean {
  const end = bytes.indexOf(HEAD_END)
  if (end < 0) return false
  if (bytes[0] === 0x47) return true // GET
  const head = bytes.toString('latin1', 0, end)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined) return bytes.length >= end + HEAD_END.length + Number(length)
  return !/\r\ntransfer-encoding:/i.test(head) || bytes.subarray(-5).toString('latin1') === '0\r\n\r\n'
}

/** Returns a response with the headers that an engine sends. */
function answerOf(headers: readonly string[], body: Buffer): Buffer {
  const head = [
    'HTTP/1.1 200 ',
    'Cache-Control: no-cache',
    ...headers,
    `Content-Length: ${body.length}`,
    'Date: Thu, 01 Jan 2026 00:00:00 GMT',
  ]
  return Buffer.concat([Buffer.from(head.join('\r\n') + HEAD_END), body])
}
