import t from 'tap'
import { loadConfig } from '../../src/config/config.ts'
import { placesFor } from '../../src/server/file-descriptors.ts'

const CONFIG = loadConfig(new URL('../../config/gateway.yaml', import.meta.url).pathname)
/** As the demo's configuration has it: 64 connections and 150 long polls for each node, and all else. */
const OWN = Object.values(CONFIG.engines).reduce((sum, { nodes }) => sum + nodes.length, 0) * (64 + 150) + 100

t.test('clients get what the gateway does not need itself', (t) => {
  t.equal(placesFor(CONFIG, 65_536), 65_536 - OWN)
  t.end()
})

t.test('with few files half are for clients', (t) => {
  t.equal(placesFor(CONFIG, 100), 50)
  t.end()
})

t.test('where nobody counts files, clients are not counted', (t) => {
  t.equal(placesFor(CONFIG, Infinity), Infinity)
  t.end()
})
