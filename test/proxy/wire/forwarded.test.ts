import t from 'tap'
import { forwardedHeaders } from '../../../src/proxy/wire/forwarded.ts'

t.test('each kind of forwarded header has the client, its scheme and the host', (t) => {
  const v4 = { client: '203.0.113.9', address: 'https://bpm.example:8443/bpm' }
  const v6 = { client: '2001:db8::1', address: 'http://[::1]:8080' }
  const nobody = { client: '', address: 'http://gw' }
  t.same(forwardedHeaders('none', v4), {})
  t.same(forwardedHeaders('x-forwarded', v4), {
    'x-forwarded-for': '203.0.113.9',
    'x-forwarded-proto': 'https',
    'x-forwarded-host': 'bpm.example:8443',
  })
  t.same(forwardedHeaders('x-forwarded', nobody), { 'x-forwarded-proto': 'http', 'x-forwarded-host': 'gw' })
  t.same(forwardedHeaders('forwarded', v4), {
    forwarded: 'for=203.0.113.9;host="bpm.example:8443";proto=https',
  })
  t.same(forwardedHeaders('forwarded', v6), {
    forwarded: 'for="[2001:db8::1]";host="[::1]:8080";proto=http',
  })
  t.same(forwardedHeaders('forwarded', nobody), { forwarded: 'host="gw";proto=http' })
  t.end()
})
