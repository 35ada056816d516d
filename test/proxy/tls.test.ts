import https from 'node:https'
import { setDefaultCACertificates } from 'node:tls'
import t, { type Test } from 'tap'
import { openUpstream, READ, WRITE } from '../support/fake-engine.ts'
import { listenUntilEnd } from '../support/listen-until-end.ts'

// A self-signed certificate for localhost and 127.0.0.1 that only these tests use. It is valid until 2126.
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKjV+LGeUoTPZRu1b
MUMJhdh0n7rcUFAD/31JeT9UehShRANCAARx03k+aO639VM8Lugr5vbeYQ+2AoGo
SPewsVQ5PIeQIZYVdLaDlkksSWM0pKC8GxwTigzf8gnNVtezwYwin+w7
-----END PRIVATE KEY-----`
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUbM2YqVissiQy/gsGXKVb3u4mkp0wCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMjIzMjY1NVoYDzIxMjYxMDI5
MjMyNjU1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAARx03k+aO639VM8Lugr5vbeYQ+2AoGoSPewsVQ5PIeQIZYVdLaDlkks
SWM0pKC8GxwTigzf8gnNVtezwYwin+w7o28wbTAdBgNVHQ4EFgQU8RebJolo8tIv
AzF73WS2MYcTROMwHwYDVR0jBBgwFoAU8RebJolo8tIvAzF73WS2MYcTROMwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAIKsuXowiLgecWhUqKSmw24HZqG5x6zRE3yOl3KY58g2AiEA
vYnYkFp4vTTdRiD1PMjFa3ecmhtmtaKNX6+FYrkiBdM=
-----END CERTIFICATE-----`

const LIMIT = 1_000_000

interface TlsNode {
  readonly url: string
  readonly seen: string[]
}

async function startTlsNode(t: Test): Promise<TlsNode> {
  const seen: string[] = []
  const server = https.createServer({ key: KEY, cert: CERTIFICATE }, ({ method, url }, response) => {
    seen.push(`${method} ${url}`)
    response.end('{}')
  })
  server.on('tlsClientError', () => undefined)
  return { url: await listenUntilEnd(t, server, true), seen }
}

t.test('nothing is sent to a node whose certificate is not trusted', async (t) => {
  const node = await startTlsNode(t)
  const { upstream } = openUpstream(t, [node.url])
  for (const request of [READ, WRITE])
    await t.rejects(upstream.fetch(request, LIMIT), { code: 'GW_NO_NODE' }, request.method)
  t.same(node.seen, [])
})

t.test('nothing is sent to a node whose certificate is for another name', async (t) => {
  setDefaultCACertificates([CERTIFICATE])
  const node = await startTlsNode(t)
  const url = node.url.replace('127.0.0.1', '127.0.0.2')
  const { upstream } = openUpstream(t, [url])
  await t.rejects(upstream.fetch(READ, LIMIT))
  t.same(node.seen, [])
})

t.test('requests are sent to a node whose certificate is trusted', async (t) => {
  setDefaultCACertificates([CERTIFICATE])
  const node = await startTlsNode(t)
  const { upstream } = openUpstream(t, [node.url])
  for (const request of [READ, WRITE]) t.match(await upstream.fetch(request, LIMIT), { status: 200 })
  t.same(node.seen, ['GET /task/x', 'POST /task/create'])
})
