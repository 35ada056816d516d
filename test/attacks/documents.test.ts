import t from 'tap'
import { type Ask, openGateway } from '../support/open-gateway.ts'

const DOCUMENT = '/openapi.json'
const RECORDS = ['grant mary PROCESS_DEFINITION:review READ', 'grant ben TASK:* READ,UPDATE']

async function open() {
  return openGateway(t, { settings: { apiDocument: { page: true } }, records: RECORDS })
}

t.test('no header makes the gateway send the document of another caller, or a part of it', async (t) => {
  const { ask } = await open()
  const [own, others] = [await ask('mary', `GET ${DOCUMENT}`), await ask('demo', `GET ${DOCUMENT}`)]
  const tag = others.headers['etag'] ?? ''
  t.not(own.headers['etag'], tag)
  const attempts: readonly NonNullable<Ask['headers']>[] = [
    { 'if-none-match': tag },
    { 'if-none-match': `W/${tag}` },
    { 'if-none-match': `"x", ${tag}` },
    { 'if-match': tag },
    { range: 'bytes=0-99' },
    { range: 'bytes=0-99', 'if-range': tag },
    { range: 'bytes=-5,0-1' },
    { 'accept-encoding': 'gzip;q=0, identity' },
    { 'if-modified-since': 'Fri, 01 Jan 2100 00:00:00 GMT' },
    { 'cache-control': 'only-if-cached' },
  ]
  for (const headers of attempts) {
    const answer = await ask('mary', `GET ${DOCUMENT}`, { headers })
    const text = JSON.stringify(headers)
    t.equal(answer.status, 200, text)
    t.same(answer.bytes, own.bytes, text)
    t.match(answer.headers['cache-control'], /private/, text)
  }
})

t.test('only an administrator gets the document of all operations, however it is asked for', async (t) => {
  const { ask } = await open()
  const own = await ask('mary', `GET ${DOCUMENT}`)
  for (const query of [
    'full',
    'full=true',
    'full=0',
    'x&full',
    'full&full',
    'full=&full=1',
    '%66ull',
    'full%3D1',
  ]) {
    const { status, bytes } = await ask('mary', `GET ${DOCUMENT}?${query}`)
    t.ok(status === 403 || (status === 200 && bytes.equals(own.bytes)), `${query}: ${status}`)
  }
  for (const name of ['FULL', 'Full', 'full[]', ' full'])
    t.same((await ask('mary', `GET ${DOCUMENT}?${encodeURIComponent(name)}`)).bytes, own.bytes, name)
})

t.test('another method, another spelling or an unknown engine has no document', async (t) => {
  const { ask } = await open()
  for (const request of [
    `POST ${DOCUMENT}`,
    `PUT ${DOCUMENT}`,
    `DELETE ${DOCUMENT}`,
    `GET ${DOCUMENT};x=1`,
    'GET /openapi%2ejson/..',
    'GET /OpenAPI.json',
    'GET /engine/nosuch/openapi.json',
    'GET /engine/default%2f..%2fopenapi.json',
  ]) {
    const { status, body } = await ask('mary', request, request.startsWith('P') ? { body: {} } : {})
    t.ok(status >= 400 && status < 500, `${request}: ${status}`)
    t.notMatch(JSON.stringify(body), /operationId/, request)
  }
})
