import { X509Certificate } from 'node:crypto'
import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import t from 'tap'
import { openUpstream, READ, startNode } from '../../support/fake-engine.ts'
import { listenUntilEnd } from '../../support/listen-until-end.ts'

/** A certificate for localhost, made for this test only. */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQg+xXzDmm+GlDGUwn8
VcpoYQyKkTIeR2MzthFp1uXAs3qhRANCAATQJR1Dq3ewOhjrnHR/ByDYliMfhWst
CLHtwHSrf9zS78TNgIGK3wHKSwO8/1hpYkI26/RZyGo/vITjS6ZZqhpk
-----END PRIVATE KEY-----
`
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBmzCCAUGgAwIBAgIUPZhjRmssKJxgiAikVsJi3m5gRjowCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMzAwMjg0NVoYDzIxMjYxMDMw
MDAyODQ1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATQJR1Dq3ewOhjrnHR/ByDYliMfhWstCLHtwHSrf9zS78TNgIGK3wHK
SwO8/1hpYkI26/RZyGo/vITjS6ZZqhpko28wbTAdBgNVHQ4EFgQUElTcn+RX+YUJ
QLWOiMShESiLkQEwHwYDVR0jBBgwFoAUElTcn+RX+YUJQLWOiMShESiLkQEwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSAAwRQIhAL+Af0+P0DfPCUjfKpLzjm8+epZVD4gsC0R4yekGNddAAiAn
aHzEoFpi0FEfd0TdxZ5Jd+YjNKyPVRxXJbXFmuRXig==
-----END CERTIFICATE-----
`

t.test('the expiry of the certificate of a node is read from its newest connection', async (t) => {
  const server = createServer({ key: KEY, cert: CERTIFICATE }, (_request, response) => response.end('{}'))
  const { port } = new URL(await listenUntilEnd(t, server, true))
  const before = getCACertificates('default')
  setDefaultCACertificates([CERTIFICATE])
  t.teardown(() => setDefaultCACertificates(before))
  const { upstream } = openUpstream(t, [`https://localhost:${port}/engine-rest`])
  t.match(upstream.nodes(), [{ certificateEndsAtMs: null }])
  await upstream.fetch(READ, 1000)
  const endsAtMs = Date.parse(new X509Certificate(CERTIFICATE).validTo)
  t.match(upstream.nodes(), [{ certificateEndsAtMs: endsAtMs, reason: null }])
})

t.test('a node without TLS has no certificate expiry', async (t) => {
  const node = await startNode(t)
  const { upstream } = openUpstream(t, [node.url])
  await upstream.fetch(READ, 1000)
  t.match(upstream.nodes(), [{ certificateEndsAtMs: null }])
})
