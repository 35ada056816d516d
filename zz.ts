import { checkShape } from './src/policy/validate.ts'
import { checkMedia } from './src/policy/media.ts'
import { checkMultipart } from './src/policy/multipart.ts'
import { readJson } from './src/policy/json.ts'
import { OPERATIONS } from './src/operations/all.ts'
const op = (id: string) => OPERATIONS.find((o) => o.id === id)!
const time = (l: string, f: () => void) => { const t = performance.now(); let e = ''; try { f() } catch (x) { e = (x as Error).message.slice(0, 60) } console.log(l.padEnd(30), (performance.now() - t).toFixed(1), 'ms', e) }
const N = 2_000_000
const shape = (id: string, body: unknown) => () => checkShape(op(id), { params: {}, query: new Map(), body })
const query = (q: Record<string, string>) => () => checkShape(op('getTasks'), { params: {}, query: new Map(Object.entries(q)), body: undefined })
for (const [n, c] of [['spaces', ' '.repeat(N) + 'x'], ['digits', '1'.repeat(N) + 'x'], ['digits sp', '1'.repeat(N / 2) + ' '.repeat(N / 2) + 'x'], ['datesp', '2020-01-01T00:00:00.000' + ' '.repeat(N) + '!'], ['dateZ', '2020-01-01T00:00:00.000Z' + ' '.repeat(N) + '!'], ['nuls', 'n'.repeat(N)], ['quotes', '"'.repeat(N)], ['b64', 'YQ=='.repeat(N / 4) + '!'], ['under', '_'.repeat(N)], ['commas', ','.repeat(N)], ['e', '1e'.repeat(N / 2)]] as const) {
  time(n + ' int', shape('queryTasksCount', { priority: c })); time(n + ' date', shape('queryTasksCount', { due: c })); time(n + ' bool', shape('queryTasksCount', { active: c }))
  time(n + ' filter', shape('queryTasksCount', { taskVariables: [{ name: 'a', operator: 'gt', value: c }] }))
  for (const type of ['Bytes', 'Double', 'Date', 'Long']) time(`${n} ${type}`, shape('throwSignal', { name: 'a', variables: { v: { type, value: c } } }))
  const s = c.slice(0, 16000) + 'x'
  for (const k of ['priority', 'active', 'due', 'taskVariables', 'candidateGroups', 'maxResults']) time(`${n} ?${k}`, query({ [k]: s }))
}
for (const h of ['application/json' + '; '.repeat(8000) + 'x', 'application/json;' + ' '.repeat(16000) + 'x', 'application/json' + '; a=b'.repeat(3000) + '!', 'a'.repeat(16000), 'application/json; a="' + 'x'.repeat(16000)]) time('media', () => checkMedia({ method: 'POST' }, { 'content-length': '5', 'content-type': h }))
const big = 64 * 1024 * 1024
for (const [l, b] of [['hdr', '--B\r\n' + ' name= name='.repeat(big / 12) + '\r\n\r\n'], ['many', '--B\r\nname=x\r\n\r\n'.repeat(big / 16)], ['comments', '--B\r\nx: filename="a.bpmn"\r\n\r\n' + '<!---->'.repeat(big / 7)], ['comment', '--B\r\nx: filename="a.bpmn"\r\n\r\n<!--' + ' '.repeat(big)], ['blank', '--B\r\nx: filename="a.bpmn"\r\n\r\n' + ' '.repeat(big)]] as const) { const bytes = Buffer.from(b, 'latin1'); time('multipart ' + l, () => checkMultipart(bytes, 'multipart/form-data; boundary=B', new Set())) }
time('multipart boundary', () => checkMultipart(Buffer.from('x'), 'multipart/form-data' + '; boundary='.repeat(1500), new Set()))
let deep: unknown = {}; for (let i = 0; i < 495; i++) deep = { orQueries: [deep] }
time('deep', shape('queryTasksCount', readJson(Buffer.from(JSON.stringify(deep)))))
let deepv: unknown = 1; for (let i = 0; i < 990; i++) deepv = [deepv]
time('deep value', shape('throwSignal', { name: 'a', variables: { v: { type: 'Integer', value: deepv } } }))
time('wide', shape('throwSignal', { name: 'a', variables: Object.fromEntries(Array.from({ length: 50000 }, (_, i) => ['v' + i, { type: 'Integer', value: '5' }])) }))
