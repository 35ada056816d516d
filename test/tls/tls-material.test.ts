import { rmSync, writeFileSync } from 'node:fs'
import t from 'tap'
import { createTlsMaterial } from '../../src/tls/tls-material.ts'
import { replacePem, writeCertificates } from '../support/certificates.ts'

t.test('TLS files are read again after a change, and not checked more often than configured', (t) => {
  const files = writeCertificates(t)
  const own = { cert: files['server.crt'], key: files['server.key'] }
  let nowMs = 0
  const read = createTlsMaterial(own, { everyMs: 1000, now: () => nowMs })
  const first = read()
  t.match(first.cert?.toString(), /BEGIN CERTIFICATE/)
  replacePem(own.cert, 'client.crt')
  replacePem(own.key, 'client.key')
  nowMs = 999
  t.equal(read(), first)
  nowMs = 1000
  const second = read()
  t.not(second, first)
  nowMs = 5000
  t.equal(read(), second)
  t.end()
})

t.test('an incomplete change of TLS files is ignored, and the previous files remain in use', (t) => {
  const files = writeCertificates(t)
  const own = { ca: files['ca.crt'], cert: files['server.crt'], key: files['server.key'] }
  const problems: (string | null)[] = []
  const read = createTlsMaterial(own, { everyMs: 0, onProblem: (problem) => void problems.push(problem) })
  const first = read()
  replacePem(own.cert, 'client.crt')
  t.equal(read(), first)
  t.equal(read(), first)
  replacePem(own.key, 'client.key')
  const second = read()
  t.not(second, first)
  writeFileSync(own.ca, 'none')
  t.equal(read(), second)
  writeFileSync(own.key, 'none')
  replacePem(own.ca, 'ca.crt')
  t.equal(read(), second)
  rmSync(own.key)
  t.equal(read(), second)
  t.match(problems, [
    'key: is not the key of cert',
    null,
    'ca: contains no certificate in PEM format',
    'key: contains no private key in PEM format',
    /ENOENT/,
  ])
  t.end()
})
